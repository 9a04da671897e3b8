"""Tests of the account: client and store joined."""
