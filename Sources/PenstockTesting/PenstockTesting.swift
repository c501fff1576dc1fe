// PenstockTesting
