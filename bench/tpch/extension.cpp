// The binding links DuckDB's tpch extension but lists it nowhere, so LOAD looks for a file. The few declarations here are
// those of DuckDB 1.5's C++ interface that are needed to add it by hand.
#include "extension.h"

#include <exception>
#include <string>

namespace duckdb {

class ClientContext;

class DatabaseInstance {
public:
	static DatabaseInstance &GetDatabase(ClientContext &context);
};

class ExtensionLoader {
public:
	ExtensionLoader(DatabaseInstance &db, const std::string &name);
	void FinalizeLoad();

private:
	char space[1024]; // more than the real object needs
};

} // namespace duckdb

extern "C" void tpch_duckdb_cpp_init(duckdb::ExtensionLoader &loader);

const char *addTPCH(void *connection) {
	static std::string failure;
	try {
		// A connection begins with the pointer to its context.
		auto *context = *static_cast<duckdb::ClientContext **>(connection);
		duckdb::ExtensionLoader loader(duckdb::DatabaseInstance::GetDatabase(*context), "tpch");
		tpch_duckdb_cpp_init(loader);
		loader.FinalizeLoad();
	} catch (const std::exception &e) {
		failure = e.what();
		return failure.c_str();
	}
	return nullptr;
}
