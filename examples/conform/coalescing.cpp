// An adapter for `warpload conform`, without libraries: answers the questions of the family `coalescing`,
// what an access costs, and skips the others. The rules are those of docs/traces.md.
//
//     c++ -std=c++17 -O2 -o coalescing examples/conform/coalescing.cpp
//     warpload conform --command ./coalescing vectors/v1/coalescing
#include <cstdint>
#include <iostream>
#include <map>
#include <set>
#include <string>
using std::string, std::to_string;
using Addresses = std::map<uint64_t, uint64_t>;  // of the lanes that execute, rounded down

// Returns the value of a key: a text without its quotes, or an array without its brackets.
static string value(const string& line, const string& key) {
    size_t at = line.find("\"" + key + "\":");
    if (at == string::npos) return "";
    at = line.find_first_not_of(' ', at + key.size() + 3);
    if (line[at] == '"') return line.substr(at + 1, line.find('"', at + 1) - at - 1);
    if (line[at] == '[') return line.substr(at + 1, line.find(']', at) - at - 1);
    return line.substr(at, line.find_first_of(",}", at) - at);
}

static Addresses addresses(const string& line, uint64_t bytes) {
    const auto active = std::stoul(value(line, "active"), nullptr, 16);
    const string list = value(line, "addresses");
    Addresses found;
    for (size_t lane = 0, at = 0; lane < 32; lane++, at = list.find(',', at) + 1)
        if (active >> lane & 1)
            found[lane] = std::stoull(list.substr(list.find('"', at) + 1), nullptr, 16) / bytes * bytes;
    return found;
}

static string answer(string sectors, string lines, string ideal, string wavefronts) {
    return "{\"sectors\":" + sectors + ",\"lines\":" + lines + ",\"ideal_sectors\":" + ideal +
           ",\"wavefronts\":" + wavefronts + "}";
}

// Sectors of 32 bytes and lines of 128, and the fewest sectors that hold the distinct bytes.
static string global(const Addresses& lanes, uint64_t bytes) {
    std::set<uint64_t> distinct, sectors, lines;
    for (const auto& [lane, at] : lanes) distinct.insert(at), sectors.insert(at / 32), lines.insert(at / 128);
    return answer(to_string(sectors.size()), to_string(lines.size()),
                  to_string((distinct.size() * bytes + 31) / 32), "null");
}

// Word w of lane l is word w * 32 + l of the warp.
static string local(const Addresses& lanes, uint64_t words) {
    std::set<std::pair<uint64_t, uint64_t>> sectors;
    for (const auto& [lane, address] : lanes)
        for (uint64_t word = 0; word < words; word++) sectors.insert({address / 4 + word, lane / 8});
    return answer(to_string(sectors.size()), "null", to_string((lanes.size() * words + 7) / 8), "null");
}

// 32 banks, a word wide; lanes in groups of 32 words. A group takes as long as its busiest bank.
static string shared(const Addresses& lanes, uint64_t words) {
    std::map<std::pair<uint64_t, uint64_t>, std::set<uint64_t>> banks;
    std::map<uint64_t, size_t> most;
    size_t wavefronts = 0;
    for (const auto& [lane, address] : lanes)
        for (uint64_t word = address / 4, group = lane * words / 32; word < address / 4 + words; word++) {
            banks[{group, word % 32}].insert(word);
            if (banks[{group, word % 32}].size() > most[group]) most[group]++, wavefronts++;
        }
    return answer("null", "null", "null", to_string(wavefronts));
}

static string cost(const string& line) {
    const uint64_t bytes = std::stoul(value(line, "bytes")), words = bytes < 4 ? 1 : bytes / 4;
    const Addresses lanes = addresses(line, bytes);
    const string space = value(line, "space");
    return space == "global" ? global(lanes, bytes) : space == "local" ? local(lanes, words)
         : space == "shared" ? shared(lanes, words) : answer("null", "null", "null", "null");
}

int main() {
    for (string line; std::getline(std::cin, line);)
        std::cout << (value(line, "family") == "coalescing" ? cost(line) : "{\"skip\":\"only coalescing\"}")
                  << std::endl;
}
