import type { Notification } from '@/api/contract/notifications';

/** At this number, notifications of one kind in one project become one line. */
const GROUPED_FROM = 3;
/** Each of these is about the reader's account or roles, and is read by itself. */
const ALONE = /^(account|role)\./;

/** One line of a list: a notification, or several of one kind in one project. */
export interface Line {
  key: string;
  /** The newest first; one, unless it is a group. */
  rows: [Notification, ...Notification[]];
  /** The line belongs to an open group and stands under it. */
  isInside: boolean;
}

export const isGroup = ({ rows }: Line): boolean => rows.length > 1;

const keyOf = ({ kind, project, read_at }: Notification) =>
  `${kind} ${project?.slug ?? ''} ${read_at === null ? 'unread' : 'read'}`;

/** Groups notifications by kind, project and whether they are read; a group stands where its newest was. */
export function grouped(rows: readonly Notification[], open: ReadonlySet<string>): Line[] {
  const groups = new Map<string, Notification[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return rows.flatMap((row) => {
    const key = keyOf(row);
    const all = groups.get(key) ?? [row];
    const [first, ...rest] = all;
    if (ALONE.test(row.kind) || all.length < GROUPED_FROM || !first)
      return [{ key: row.id, rows: [row] as [Notification], isInside: false }];
    if (row !== first) return [];
    const inside = open.has(key)
      ? all.map((one) => ({ key: one.id, rows: [one] as [Notification], isInside: true }))
      : [];
    return [{ key, rows: [first, ...rest] as [Notification, ...Notification[]], isInside: false }, ...inside];
  });
}

/** How many things a group is about: of 32 versions of one dataset, one. */
export const subjectsOf = ({ rows }: Line): number =>
  new Set(rows.map(({ kind, data, subject }) => (kind === 'commit.published' ? data.dataset : subject))).size;
