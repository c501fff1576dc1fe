print("penstock")
