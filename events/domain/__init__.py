"""Pure rules of buses: values in, values out."""
