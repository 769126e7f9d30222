"""The statements that the ORM cannot say in one go.

A lease is one statement: rows that somebody else is taking are skipped, never waited for, and
the state is checked again on the locked row, so two people cannot get one slot.
"""

from typing import Final

# Excludes items on which the person holds the other slot (nobody audits their own work), and
# those that the person has skipped. `{which}` says which slots are to be had.
_HAND_OUT = """
WITH picked AS (
    SELECT slot.id
    FROM labeling_workslot slot
    JOIN labeling_labeltask task ON task.id = slot.label_task_id AND task.state = 'active'
    WHERE slot.label_task_id = %(task)s AND slot.role = %(role)s AND {which}
      AND NOT EXISTS (
        SELECT 1 FROM labeling_workslot other
        WHERE other.work_item_id = slot.work_item_id AND other.user_id = %(user)s)
      AND NOT EXISTS (
        SELECT 1 FROM labeling_skip skip
        WHERE skip.work_item_id = slot.work_item_id AND skip.user_id = %(user)s)
    ORDER BY slot.priority DESC, slot.position {direction}
    LIMIT %(n)s
    FOR UPDATE OF slot SKIP LOCKED
), leased AS (
    UPDATE labeling_workslot slot
    SET state = 'leased', user_id = %(user)s, lease_no = slot.lease_no + 1,
        expires_at = now() + %(ttl)s, page = %(page)s, on_screen = %(on_screen)s,
        seen_at = now(), lapsed_user_id = NULL, updated_at = now()
    FROM picked WHERE slot.id = picked.id
    RETURNING slot.id, slot.work_item_id
), begun AS (
    UPDATE labeling_workitem item
    SET state = 'labeling', updated_at = now()
    FROM leased WHERE item.id = leased.work_item_id AND item.state = 'ready'
)
SELECT id FROM leased
"""

LEASE: Final = _HAND_OUT.format(which="slot.state = 'open'", direction="ASC")

# Fetched ahead by a page of somebody else who has neither seen nor begun it. The last ones first:
# those are the furthest from that person's screen.
LEASE_PREFETCHED: Final = _HAND_OUT.format(
    which="""slot.state = 'leased' AND slot.page <> '' AND NOT slot.on_screen
      AND NOT EXISTS (
        SELECT 1 FROM labeling_draft draft
        WHERE draft.slot_id = slot.id AND draft.user_id = slot.user_id)""",
    direction="DESC",
)

EXPIRE: Final = """
WITH late AS (
    SELECT slot.id FROM labeling_workslot slot
    WHERE slot.state = 'leased' AND slot.expires_at < now()
      AND (%(task)s::uuid IS NULL OR slot.label_task_id = %(task)s)
    ORDER BY slot.expires_at LIMIT %(n)s
    FOR UPDATE SKIP LOCKED
), freed AS (
    UPDATE labeling_workslot slot
    SET state = 'open', lapsed_user_id = slot.user_id, user_id = NULL, expires_at = NULL,
        page = '', on_screen = false, seen_at = NULL, updated_at = now()
    FROM late WHERE slot.id = late.id
    RETURNING slot.work_item_id, slot.label_task_id, slot.role
), ready AS (
    UPDATE labeling_workitem item
    SET state = 'ready', updated_at = now()
    FROM freed
    WHERE item.id = freed.work_item_id AND freed.role = 'label' AND item.state = 'labeling'
)
SELECT label_task_id, count(*) FROM freed GROUP BY label_task_id
"""

# Share: submissions don't wait for each other, a publication waits for all of them.
SHARE_TASKS: Final = """
SELECT id FROM labeling_labeltask WHERE id = ANY(%(tasks)s) ORDER BY id FOR SHARE
"""
