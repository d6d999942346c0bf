"""placeholder"""
def register(): pass
