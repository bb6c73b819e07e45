from marketplace.book.calendar import ServerCalendar, earliest_paid_start, merge_windows
from marketplace.book.types import Server, seconds_of, slot_of
from tests.unit.book.builders import at, slot


def test_a_slot_is_a_quarter_of_an_hour_since_the_unix_epoch():
    assert slot_of(0) == 0
    assert slot_of(899) == 0
    assert slot_of(900) == 1
    assert seconds_of(slot_of(at("14:44:59"))) == at("14:30")


def test_hours_bought_at_14_37_are_paid_from_14_45():
    assert earliest_paid_start(now_seconds=at("14:37"), setup_slots=1) == slot("14:45")


def test_hours_bought_at_14_44_59_are_paid_from_15_00():
    assert earliest_paid_start(now_seconds=at("14:44:59"), setup_slots=1) == slot("15:00")


def test_a_boundary_exactly_five_minutes_away_is_near_enough():
    assert earliest_paid_start(now_seconds=at("14:40"), setup_slots=1) == slot("14:45")
    assert earliest_paid_start(now_seconds=at("14:40:01"), setup_slots=1) == slot("15:00")


def test_four_set_up_slots_may_begin_with_the_running_one():
    assert earliest_paid_start(now_seconds=at("14:37"), setup_slots=4) == slot("15:30")


def test_windows_that_touch_or_overlap_become_one():
    assert merge_windows(((8, 12), (0, 4), (4, 6), (5, 7))) == ((0, 7), (8, 12))


def calendar(*, capacity: int = 4, setup_slots: int = 1, used=None) -> ServerCalendar:
    server = Server(id=1, capacity=capacity, setup_slots=setup_slots)
    return ServerCalendar(server=server, used=used)


def earliest(server: ServerCalendar, **question) -> int | None:
    defaults = {"gpus": 1, "hours": 1, "windows": ((0, 100),), "first": 10, "last": 90}
    return server.earliest_start(**{**defaults, **question})


def test_set_up_and_paid_slots_lie_inside_one_window():
    assert earliest(calendar(), windows=((10, 15),)) == 11
    assert earliest(calendar(), windows=((10, 14), (20, 25))) == 21
    assert earliest(calendar(), windows=((10, 14), (20, 24))) is None


def test_the_start_is_looked_for_up_to_the_last_one_allowed():
    assert earliest(calendar(used=dict.fromkeys(range(5, 20), 4)), last=21) == 21
    assert earliest(calendar(used=dict.fromkeys(range(5, 20), 4)), last=20) is None


def test_a_busy_slot_inside_the_hour_moves_the_start_behind_it():
    assert earliest(calendar(used={12: 4}), first=10) == 14
    assert earliest(calendar(used={12: 3}), first=10) == 10
    assert earliest(calendar(used={12: 3}), first=10, gpus=2) == 14


def test_a_rental_never_fits_a_server_with_too_few_gpus():
    assert earliest(calendar(capacity=4), gpus=5) is None


def test_booked_and_released_slots_are_counted():
    server = calendar(used={9: 1, 30: 0})

    server.book(slots=range(8, 11), gpus=2)
    server.release(slots=range(9, 10), gpus=1)

    assert server.used_counts() == {8: 2, 9: 2, 10: 2}


def test_the_next_start_waits_for_free_set_up_slots_and_ignores_the_paid_ones():
    now_seconds = seconds_of(10)
    busy = calendar(used=dict.fromkeys(range(10, 14), 4) | {16: 4})

    start = busy.next_start(gpus=1, hours=1, windows=((0, 100),), now_seconds=now_seconds)

    assert start == 15


def test_there_is_no_next_start_when_the_window_leaves_no_room_for_the_hours():
    question = {"gpus": 1, "now_seconds": seconds_of(10)}

    assert calendar().next_start(hours=1, windows=((0, 15),), **question) == 11
    assert calendar().next_start(hours=2, windows=((0, 15),), **question) is None
