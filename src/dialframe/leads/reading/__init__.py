"""Lead files of any format to text cells with their source lines."""
