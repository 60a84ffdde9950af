// expect: error
int main() {}
