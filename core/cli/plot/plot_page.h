/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_PLOT_PAGE_H
#define APAPI_PLOT_PAGE_H

/** plot_page.html as a string, made by the build. */
extern const char plot_page_text[];

#endif
