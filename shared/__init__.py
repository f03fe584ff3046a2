"""What coordinator and worker must agree on. Pure: no input or output."""
