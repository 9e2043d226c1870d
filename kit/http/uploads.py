"""A bound for uploaded files, which Django has none for."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler

LARGEST = 16 * 1024 * 1024
"""Bytes of a form with its files."""


class BoundedUpload(FileUploadHandler):
    """Refuses a form before it is read when it is too large; the other handlers take the rest."""

    def handle_raw_input(
        self,
        input_data: Any,
        META: dict[str, str],
        content_length: int,
        boundary: Any,
        encoding: str | None = None,
    ) -> None:
        """Look at the length that the request states."""
        if content_length > LARGEST:
            raise RequestDataTooBig(f"A form may have {LARGEST:,} bytes with its files.")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Hand the bytes on."""
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Leave the file to the other handlers."""
