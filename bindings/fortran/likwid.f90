! SPDX-License-Identifier: BSD-3-Clause
! LIKWID's module of the same name, on regions of APAPI: a program that says "use likwid" is compiled
! with this file instead of LIKWID's module, and linked to libapapi (-lapapi). Blanks at the end of a
! name do not count.
module likwid
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_double, c_null_char
    implicit none
    private
    public :: likwid_markerInit, likwid_markerThreadInit, likwid_markerNextGroup, likwid_markerClose
    public :: likwid_markerRegisterRegion, likwid_markerStartRegion, likwid_markerStopRegion
    public :: likwid_markerResetRegion, likwid_markerGetRegion, likwid_markerWriteFile

    interface
        subroutine likwid_markerInit() bind(C, name='apapi_likwid_init')
        end subroutine
        subroutine likwid_markerThreadInit() bind(C, name='apapi_likwid_init')
        end subroutine
        subroutine likwid_markerNextGroup() bind(C, name='apapi_likwid_init')
        end subroutine
        subroutine likwid_markerClose() bind(C, name='apapi_likwid_close')
        end subroutine
        integer(c_int) function c_register(tag) bind(C, name='apapi_likwid_register_region')
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: tag(*)
        end function
        integer(c_int) function c_start(tag) bind(C, name='apapi_likwid_start_region')
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: tag(*)
        end function
        integer(c_int) function c_stop(tag) bind(C, name='apapi_likwid_stop_region')
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: tag(*)
        end function
        integer(c_int) function c_reset(tag) bind(C, name='apapi_likwid_reset_region')
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: tag(*)
        end function
        subroutine c_get(tag, count, values, time, passes) bind(C, name='apapi_likwid_get_region')
            import :: c_int, c_char, c_double
            character(kind=c_char), intent(in) :: tag(*)
            integer(c_int) :: count, passes
            real(c_double) :: values(*), time
        end subroutine
        integer(c_int) function c_write(path) bind(C, name='apapi_likwid_write_file')
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: path(*)
        end function
    end interface

contains

    subroutine likwid_markerRegisterRegion(regionTag)
        character(*), intent(in) :: regionTag
        integer(c_int) :: ignored
        ignored = c_register(trim(regionTag)//c_null_char)
    end subroutine

    subroutine likwid_markerStartRegion(regionTag)
        character(*), intent(in) :: regionTag
        integer(c_int) :: ignored
        ignored = c_start(trim(regionTag)//c_null_char)
    end subroutine

    subroutine likwid_markerStopRegion(regionTag)
        character(*), intent(in) :: regionTag
        integer(c_int) :: ignored
        ignored = c_stop(trim(regionTag)//c_null_char)
    end subroutine

    subroutine likwid_markerResetRegion(regionTag)
        character(*), intent(in) :: regionTag
        integer(c_int) :: ignored
        ignored = c_reset(trim(regionTag)//c_null_char)
    end subroutine

    ! In: the length of `events`. Out: how many are set [J]; of this thread's passes that have ended.
    subroutine likwid_markerGetRegion(regionTag, nr_events, events, time, count)
        character(*), intent(in) :: regionTag
        integer :: nr_events, count
        double precision :: events(*), time
        call c_get(trim(regionTag)//c_null_char, nr_events, events, time, count)
    end subroutine

    subroutine likwid_markerWriteFile(markerfile)
        character(*), intent(in) :: markerfile
        integer(c_int) :: ignored
        ignored = c_write(trim(markerfile)//c_null_char)
    end subroutine
end module
