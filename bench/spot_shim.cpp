// Spot's translation behind standard input and output, for comparisons.
//
// The library comes without headers, so the few names that are needed are declared here, with the layouts that their calls
// show: a formula is one pointer with a destructor of its own, and objects that only the library looks into are raw memory.
// Memory of formulas is not given back.
//
// Reads a formula per line. For each it writes `time SECONDS…`, one number per repetition, and the automaton as HOA; only the
// word `time` if the translation needs more than a minute or four gigabytes.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace spot {

struct environment;
struct twa;
struct twa_graph;

struct bdd_dict {
    bdd_dict();
    char memory[4096];
};

struct formula {
    const void* node = nullptr;
    formula(const formula& other) : node(other.node) {}
    // Not trivial: such values are returned and given by reference.
    ~formula() {}
};

struct default_environment {
    static environment& instance();
};

formula parse_formula(const std::string& text, environment& names);
const char* version();
std::ostream& print_hoa(std::ostream& out, const std::shared_ptr<const twa>& automaton, const char* options);

// Some ordered containers: empty ones look alike whatever they hold.
struct option_map {
    std::map<std::string, std::string> containers[4];
    const char* parse_options(const char* text);
};

struct postprocessor {
    explicit postprocessor(const option_map* options);
    int type, preference, level;
    char memory[4096];
};

struct translator : postprocessor {
    // The two steps of its constructor, which stands in a header.
    explicit translator(const option_map* options) : postprocessor(options) {
        setup_opt(options);
        build_simplifier(std::make_shared<bdd_dict>());
    }
    void setup_opt(const option_map* options);
    void build_simplifier(const std::shared_ptr<bdd_dict>& names);
    void clear_caches();
    std::shared_ptr<twa_graph> run(formula wish);
};

}  // namespace spot

static void translate(spot::translator& translator, const std::string& text, int repetitions) {
    std::shared_ptr<spot::twa_graph> automaton;
    std::ostringstream out;
    out << "time";
    for (int i = 0; i < repetitions; i++) {
        translator.clear_caches();
        const spot::formula wish = spot::parse_formula(text, spot::default_environment::instance());
        const auto start = std::chrono::steady_clock::now();
        automaton = translator.run(wish);
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        out << " " << time.count();
    }
    out << "\n";
    const std::shared_ptr<const spot::twa> view(automaton, reinterpret_cast<const spot::twa*>(automaton.get()));
    spot::print_hoa(out, view, nullptr) << "\n";
    std::cout << out.str() << std::flush;
}

int main(int count, char** arguments) {
    const int repetitions = count > 1 ? std::atoi(arguments[1]) : 1;
    // Both are never destroyed, only the library knows what they hold; the translator begins as zeros.
    auto& options = *new spot::option_map;
    alignas(16) static char zeros[sizeof(spot::translator)];
    // On by default at this level; the default is set in a header too.
    options.parse_options("gf-guarantee=1");
    auto& translator = *new (zeros) spot::translator(&options);
    std::cerr << "Spot " << spot::version() << ", type " << translator.type << ", preference " << translator.preference
              << ", level " << translator.level << "\n";
    for (std::string line; std::getline(std::cin, line);) {
        // A process of its own for each formula, so that one that is too large costs no other.
        const pid_t child = fork();
        if (child == 0) {
            const rlimit memory{4ul << 30, 4ul << 30};
            setrlimit(RLIMIT_AS, &memory);
            alarm(60);
            translate(translator, line, repetitions);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) {
            std::cout << "time\n" << std::flush;
        }
    }
}
