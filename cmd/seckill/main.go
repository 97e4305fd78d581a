// Command seckill runs flash sales. See the README.
package main

func main() { panic("todo") }
