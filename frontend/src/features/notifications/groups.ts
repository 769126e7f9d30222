import type { Notification } from '@/api/contract/notifications';

/** At this number, notifications of one kind on one day become one line. */
const GROUPED_FROM = 3;
/** Each of these is about the reader's account or roles, and is read by itself. */
const ALONE = /^(account|role)\./;
/** By kind, the field that names what a notification is about: `12 runs of digits succeeded`. */
const SUBJECTS: Record<string, string> = {
  'run.failed': 'name',
  'run.succeeded': 'name',
  'run.waiting': 'name',
  'commit.published': 'dataset',
  'commit.failed': 'dataset',
  'commit.conflict': 'dataset',
  'scan.done': 'source',
  'scan.failed': 'source',
  'invitation.accepted': 'place',
};

/** One line of a list: a notification, or several of one day, kind and project. */
export interface Line {
  key: string;
  /** The newest first; one, unless it is a group. */
  rows: [Notification, ...Notification[]];
  /** A group of one subject, such as the runs of one name, says so. */
  isOfSubject: boolean;
  /** The line belongs to an open group and stands under it. */
  isInside: boolean;
}

export const isGroup = ({ rows }: Line): boolean => rows.length > 1;

/** The day of the reader, not of the server. */
const dayOf = (at: string) => new Date(at).toDateString();

const kindKeyOf = ({ id, kind, project, at, read_at }: Notification) =>
  ALONE.test(kind) ? id : [dayOf(at), kind, project?.slug ?? '', read_at === null ? 'unread' : 'read'].join(' ');

function subjectKeyOf(row: Notification): string {
  const subject = row.data[SUBJECTS[row.kind] ?? ''];
  return `${kindKeyOf(row)} of ${subject || row.id}`;
}

function groupBy(rows: readonly Notification[], keyOf: (row: Notification) => string): Map<string, Notification[]> {
  const groups = new Map<string, Notification[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return groups;
}

/**
 * Groups notifications of one day by what they are about, and those that are left by kind and project. Read notifications
 * stand apart. A group stands where its newest was.
 */
export function grouped(rows: readonly Notification[], open: ReadonlySet<string>): Line[] {
  const subjects = groupBy(rows, subjectKeyOf);
  const isOfSubject = (row: Notification) => (subjects.get(subjectKeyOf(row))?.length ?? 0) >= GROUPED_FROM;
  const keyOf = (row: Notification) => (isOfSubject(row) ? subjectKeyOf(row) : kindKeyOf(row));
  const groups = groupBy(rows, keyOf);
  const single = (row: Notification, isInside: boolean): Line => ({
    key: row.id,
    rows: [row],
    isOfSubject: false,
    isInside,
  });
  return rows.flatMap((row) => {
    const key = keyOf(row);
    const [first, ...rest] = groups.get(key) ?? [];
    if (!first || rest.length + 1 < GROUPED_FROM) return [single(row, false)];
    if (row !== first) return [];
    const inside = open.has(key) ? [first, ...rest].map((one) => single(one, true)) : [];
    return [{ key, rows: [first, ...rest], isOfSubject: isOfSubject(row), isInside: false } as Line, ...inside];
  });
}

/** How many things a group is about: of 32 versions of one dataset, one. */
export const subjectsOf = ({ rows }: Line): number =>
  new Set(rows.map(({ kind, data, subject }) => (kind === 'commit.published' ? data.dataset : subject))).size;
