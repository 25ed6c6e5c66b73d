; inherits: cxx
