! SPDX-License-Identifier: BSD-3-Clause
! Regions of a Fortran program: the energy of its parts, measured by APAPI. Compile this file with
! the program, as module files differ between compilers, and link libapapi (-lapapi). Outside of a
! step that APAPI measures the calls do nothing. A region belongs to the thread that begins it.
! Blanks at the end of a name do not count. `status`: 0, or -1 for a misuse.
module apapi
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_double, c_int32_t, c_null_char
    implicit none
    private
    public :: apapi_region_begin, apapi_region_end, apapi_region_stop
    public :: apapi_region_fom, apapi_region_handle, apapi_region_enter, apapi_region_leave

    interface
        integer(c_int) function c_begin(name) bind(C, name='apapi_region_begin')
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: name(*)
        end function
        integer(c_int) function c_end(name) bind(C, name='apapi_region_end')
            import :: c_int, c_char
            character(kind=c_char), intent(in) :: name(*)
        end function
        integer(c_int) function c_stop() bind(C, name='apapi_region_stop')
            import :: c_int
        end function
        integer(c_int) function c_fom(name, value, unit) bind(C, name='apapi_region_fom')
            import :: c_int, c_char, c_double
            character(kind=c_char), intent(in) :: name(*), unit(*)
            real(c_double), value :: value
        end function
        integer(c_int32_t) function c_handle(name) bind(C, name='apapi_region_handle')
            import :: c_int32_t, c_char
            character(kind=c_char), intent(in) :: name(*)
        end function
        ! For loops that run often: a handle costs no look for the name.
        subroutine apapi_region_enter(handle) bind(C, name='apapi_region_enter')
            import :: c_int32_t
            integer(c_int32_t), value :: handle
        end subroutine
        subroutine apapi_region_leave(handle) bind(C, name='apapi_region_leave')
            import :: c_int32_t
            integer(c_int32_t), value :: handle
        end subroutine
    end interface

contains

    subroutine apapi_region_begin(name, status)
        character(*), intent(in) :: name
        integer, intent(out), optional :: status
        call set(c_begin(trim(name)//c_null_char), status)
    end subroutine

    subroutine apapi_region_end(name, status)
        character(*), intent(in) :: name
        integer, intent(out), optional :: status
        call set(c_end(trim(name)//c_null_char), status)
    end subroutine

    subroutine apapi_region_stop(status)
        integer, intent(out), optional :: status
        call set(c_stop(), status)
    end subroutine

    ! A figure of merit of the run, for energy per unit of it.
    subroutine apapi_region_fom(name, value, unit, status)
        character(*), intent(in) :: name, unit
        real(c_double), intent(in) :: value
        integer, intent(out), optional :: status
        call set(c_fom(trim(name)//c_null_char, value, trim(unit)//c_null_char), status)
    end subroutine

    integer(c_int32_t) function apapi_region_handle(name)
        character(*), intent(in) :: name
        apapi_region_handle = c_handle(trim(name)//c_null_char)
    end function

    subroutine set(result, status)
        integer(c_int), intent(in) :: result
        integer, intent(out), optional :: status
        if (present(status)) status = result
    end subroutine
end module apapi
