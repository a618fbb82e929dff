! Pointers to components and to sections, made by gfortran; the other side is sections.c, which ships
! them and has `double_all` called on the device.
module sections
    use iso_c_binding
    implicit none
    type :: inner
        real(8) :: a, b
    end type
    type :: cell
        real(8) :: x
        integer(4) :: n
        type(inner) :: in
        real(8) :: y
    end type
    type :: holder
        real(8), pointer :: component(:), reversed(:), section(:, :), deeper(:), none(:)
        integer(4), pointer :: numbers(:)
    end type
contains
    subroutine double_all(address) bind(c)
        type(c_ptr), value :: address
        type(holder), pointer :: h
        call c_f_pointer(address, h)
        h%component = 2 * h%component
        h%reversed = 2 * h%reversed
        h%section = 2 * h%section
        h%deeper = 2 * h%deeper
        h%numbers = 2 * h%numbers
    end subroutine
end module

program main
    use sections
    implicit none
    interface
        subroutine there_and_back(address, bytes, function) bind(c)
            use iso_c_binding
            type(c_ptr), value :: address
            integer(c_size_t), value :: bytes
            type(c_funptr), value :: function
        end subroutine
    end interface
    type(holder), target :: h
    type(cell), target :: fixed(10)
    type(cell), allocatable, target :: items(:)
    real(8), target :: line(10), plane(5, 6)
    integer :: i, j

    allocate (items(7))
    do i = 1, 10
        fixed(i)%x = i
        fixed(i)%n = -i
        fixed(i)%in%a = 100 + i
        fixed(i)%in%b = 200 + i
        fixed(i)%y = 300 + i
        line(i) = 10 * i
    end do
    do i = 1, 7
        items(i)%x = i
        items(i)%n = 1000 + i
        items(i)%in%a = -i
        items(i)%in%b = -2 * i
        items(i)%y = -3 * i
    end do
    do j = 1, 6
        do i = 1, 5
            plane(i, j) = 10 * i + j
        end do
    end do
    h%component => fixed%x
    h%reversed => line(10:1:-1)
    h%section => plane(4:1:-2, 2:6:2)
    h%deeper => fixed%in%b
    h%numbers => items%n
    h%none => line(5:4)

    call there_and_back(c_loc(h), int(storage_size(h) / 8, c_size_t), c_funloc(double_all))

    call check('p => a%x', all(fixed%x == [(2d0 * i, i = 1, 10)]))
    call check('p => a%in%b', all(fixed%in%b == [(400d0 + 2 * i, i = 1, 10)]))
    call check('what lies between', all(fixed%n == [(-i, i = 1, 10)]) .and. &
               all(fixed%in%a == [(100d0 + i, i = 1, 10)]) .and. all(fixed%y == [(300d0 + i, i = 1, 10)]))
    call check('a reversed section', all(line == [(20d0 * i, i = 1, 10)]))
    do j = 1, 6
        do i = 1, 5
            if ((i == 2 .or. i == 4) .and. mod(j, 2) == 0) then
                call check('a section of a plane', plane(i, j) == 2 * (10 * i + j))
            else
                call check('what a section leaves out', plane(i, j) == 10 * i + j)
            end if
        end do
    end do
    call check('integers of allocated items', all(items%n == [(2000 + 2 * i, i = 1, 7)]))
    call check('beside them', all(items%x == [(1d0 * i, i = 1, 7)]) .and. all(items%y == [(-3d0 * i, i = 1, 7)]))
    print '(a)', '7 passed, 0 failed'
contains
    subroutine check(what, is_right)
        character(*), intent(in) :: what
        logical, intent(in) :: is_right
        if (.not. is_right) then
            print '(2a)', 'FAILED  ', what
            stop 1
        end if
    end subroutine
end program
