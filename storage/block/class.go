package block

// sizeClasses are the Go allocator's classes up to 32 KiB. TestClass compares them with what append really gives.
var sizeClasses = [...]uint16{8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320,
	352, 384, 416, 448, 480, 512, 576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048, 2304, 2688, 3072,
	3200, 3456, 4096, 4864, 5376, 6144, 6528, 6784, 6912, 8192, 9472, 9728, 10240, 10880, 12288, 13568, 14336, 16384,
	18432, 19072, 20480, 21760, 24576, 27264, 28672, 32768}

// classOf maps (size+127)/128 to the first class that can hold sizes of that step.
var classOf = func() (t [257]uint8) {
	c := 0
	for i := range t {
		for int(sizeClasses[c]) < i*128-127 {
			c++
		}
		t[i] = uint8(c)
	}
	return t
}()

// Class returns how many bytes the allocator uses for an object of n bytes: memory is booked as it is held.
func Class(n int) int {
	if n > 32768 {
		return (n + 8191) &^ 8191
	}
	if n <= 0 {
		return 0
	}
	c := int(classOf[(n+127)/128])
	for int(sizeClasses[c]) < n {
		c++
	}
	return int(sizeClasses[c])
}
