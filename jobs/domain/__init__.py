"""What jobs' receipts say and come to: values in, values out."""
