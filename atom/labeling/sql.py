"""The statements that the ORM cannot say in one go.

A lease is one statement: rows that somebody else is taking are skipped, never waited for, and
the state is checked again on the locked row, so two people cannot get one slot.
"""

from typing import Final

# Also excludes items on which the person holds the other slot: nobody audits their own work.
LEASE: Final = """
WITH picked AS (
    SELECT slot.id
    FROM labeling_workslot slot
    JOIN labeling_labeltask task ON task.id = slot.label_task_id AND task.state = 'active'
    WHERE slot.label_task_id = %(task)s AND slot.role = %(role)s AND slot.state = 'open'
      AND NOT EXISTS (
        SELECT 1 FROM labeling_workslot other
        WHERE other.work_item_id = slot.work_item_id AND other.user_id = %(user)s)
    ORDER BY slot.priority DESC, slot.position
    LIMIT %(n)s
    FOR UPDATE OF slot SKIP LOCKED
), leased AS (
    UPDATE labeling_workslot slot
    SET state = 'leased', user_id = %(user)s, lease_no = slot.lease_no + 1,
        expires_at = now() + %(ttl)s, updated_at = now()
    FROM picked WHERE slot.id = picked.id
    RETURNING slot.id, slot.work_item_id
), begun AS (
    UPDATE labeling_workitem item
    SET state = 'labeling', updated_at = now()
    FROM leased WHERE item.id = leased.work_item_id AND item.state = 'ready'
)
SELECT id FROM leased
"""

EXPIRE: Final = """
WITH late AS (
    SELECT slot.id FROM labeling_workslot slot
    WHERE slot.state = 'leased' AND slot.expires_at < now()
      AND (%(task)s::uuid IS NULL OR slot.label_task_id = %(task)s)
    ORDER BY slot.expires_at LIMIT %(n)s
    FOR UPDATE SKIP LOCKED
), freed AS (
    UPDATE labeling_workslot slot
    SET state = 'open', user_id = NULL, expires_at = NULL, updated_at = now()
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
