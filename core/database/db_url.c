/* SPDX-License-Identifier: BSD-3-Clause */
#include "database/db_url.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define FORMS                                                                                      \
    "sqlite:FILE or mysql://[user@][host[:port]]/database[?socket=PATH][&option-file=PATH]"
#define PORT_MAX 65535

static char *db_url_cut(char *text, char at)
{
    char *found = strchr(text, at);

    if (!found) {
        return NULL;
    }
    *found = '\0';
    return found + 1;
}

static const char *non_empty(const char *text)
{
    return text && *text ? text : NULL;
}

/* "socket=PATH&option-file=PATH" */
static int parse_query(char *query, struct db_address *address, struct apapi_error *err)
{
    char *next;

    for (; query && *query; query = next) {
        char *value;

        next = db_url_cut(query, '&');
        value = db_url_cut(query, '=');
        if (strcmp(query, "socket") == 0 && non_empty(value)) {
            address->socket = value;
        } else if (strcmp(query, "option-file") == 0 && non_empty(value)) {
            address->option_file = value;
        } else {
            return apapi_fail(err, EINVAL,
                              "--db: '%.60s' after '?': only socket=PATH and "
                              "option-file=PATH are valid",
                              query);
        }
    }
    return 0;
}

static int db_url_parse_port(const char *text, struct db_address *address, struct apapi_error *err)
{
    address->port = (unsigned)positive_number(text, PORT_MAX);
    return address->port ? 0 : apapi_fail(err, EINVAL, "--db: '%.60s' is not a port", text);
}

/* "[::1]:3306", "host", "host:3306" */
static int parse_host(char *host, struct db_address *address, struct apapi_error *err)
{
    char *port;

    if (*host == '[') {
        host++;
        port = db_url_cut(host, ']');
        if (!port || (*port && *port != ':')) {
            return apapi_fail(err, EINVAL, "--db: write an IPv6 address as [::1]");
        }
        port = *port ? port + 1 : NULL;
    } else {
        port = db_url_cut(host, ':');
    }
    address->host = non_empty(host);
    return port ? db_url_parse_port(port, address, err) : 0;
}

static int parse_server(char *rest, struct db_address *address, struct apapi_error *err)
{
    char *query = db_url_cut(rest, '?'), *database = db_url_cut(rest, '/'),
         *host = db_url_cut(rest, '@');

    if (host && strchr(rest, ':')) {
        return apapi_fail(err, EINVAL,
                          "--db: no password on the command line, where everyone sees it: it "
                          "belongs into [client] of ~/.my.cnf or of ?option-file=PATH");
    }
    address->user = host ? non_empty(rest) : NULL;
    address->database = non_empty(database);
    if (!address->database || strchr(database, '/')) {
        return apapi_fail(err, EINVAL, "--db: which database? write it as mysql://host/database");
    }
    return parse_query(query, address, err) || parse_host(host ? host : rest, address, err) ? -1
                                                                                            : 0;
}

int db_url_parse(char *url, const struct db_driver **driver, struct db_address *address,
                 struct apapi_error *err)
{
    static const char *const server[] = {"mysql://", "mariadb://"};

    *address = (struct db_address){0};
    if (strncmp(url, "sqlite:", strlen("sqlite:")) == 0 && url[strlen("sqlite:")]) {
        *driver = &db_sqlite;
        address->database = url + strlen("sqlite:");
        return 0;
    }
    for (size_t i = 0; i < COUNT_OF(server); i++) {
        if (strncmp(url, server[i], strlen(server[i])) == 0) {
            *driver = &db_mariadb;
            return parse_server(url + strlen(server[i]), address, err);
        }
    }
    return apapi_fail(err, EINVAL, "--db: '%.60s' is not a database: write " FORMS, url);
}
