/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/sysfs/sysfs_family.h"

#include "base/kernel_file.h"

void sysfs_read_files(const struct sysfs_reader *reader, struct apapi_reading *readings)
{
    for (size_t i = 0; i < reader->base.count; i++) {
        const struct sysfs_meter *meter = &reader->meters[i];

        readings[i].error =
            meter->fd < 0 ? meter->error
                          : kernel_file_read_value(meter->fd, meter->suffix, &readings[i].raw);
    }
}
