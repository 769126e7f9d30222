import { Badge, type BadgeProps } from '@mantine/core';
import {
  type Icon,
  IconAlertTriangle,
  IconArrowBackUp,
  IconBan,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleX,
  IconClock,
  IconEye,
  IconLoader2,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { states as stateWords } from '@/i18n/common.en';

type Look = { color: string; icon: Icon };
type Known = keyof typeof stateWords;

const look = (color: string, icon: Icon): Look => ({ color, icon });
const waiting = look('gray', IconClock);
const working = look('atom', IconLoader2);
const stopped = look('gray', IconBan);
const good = look('teal', IconCircleCheck);
const bad = look('red', IconCircleX);
const warning = look('orange', IconAlertTriangle);
const held = look('yellow', IconPlayerPause);

/** Colour is never the only signal: each state has an icon and a word too. */
const LOOKS: Record<Known, Look> = {
  pending: waiting,
  queued: waiting,
  waiting,
  admitted: waiting,
  preparing: working,
  starting: working,
  running: look('atom', IconPlayerPlay),
  stopping: working,
  pausing: working,
  paused: held,
  preempted: held,
  retrying: warning,
  succeeded: good,
  failed: bad,
  cancelled: stopped,
  cancelling: working,
  lost: warning,
  timed_out: bad,
  draft: look('gray', IconPencil),
  open: look('atom', IconPlayerPlay),
  active: look('atom', IconPlayerPlay),
  closed: stopped,
  done: good,
  completed: good,
  expired: stopped,
  revoked: stopped,
  ready: good,
  warm: good,
  warming: working,
  cold: look('gray', IconCircleDashed),
  verified: good,
  quarantined: warning,
  published: good,
  publishing: working,
  auditing: look('grape', IconEye),
  accepted: good,
  rejected: bad,
  submitted: look('cyan', IconCircleCheck),
  reserved: look('atom', IconPencil),
  returned: look('orange', IconArrowBackUp),
  skipped: look('gray', IconCircleDashed),
  archived: stopped,
  created: waiting,
  placing: working,
  scheduling: working,
  pulling: working,
  retry_wait: warning,
  finalizing: working,
  labeling: working,
  audit: look('grape', IconEye),
  rework: look('orange', IconArrowBackUp),
  blocked: stopped,
  leased: look('atom', IconPencil),
  uploading: working,
  uploaded: waiting,
  verifying: working,
  building: working,
  conflict: bad,
  aborted: stopped,
  persisted: good,
  local: waiting,
  new: waiting,
  scanning: working,
  drifted: warning,
  writing: look('atom', IconPencil),
  committing: working,
  committed: good,
  abandoned: stopped,
  copying: working,
  there: good,
  removing: working,
};

export interface StateBadgeProps extends Omit<BadgeProps, 'children' | 'color'> {
  state: string;
  /** Words instead of the shared ones in `i18n/common` (`states.*`). */
  label?: string;
}

export function StateBadge({ state, label, ...rest }: StateBadgeProps) {
  const { t } = useTranslation();
  const key = state.toLowerCase();
  const known = key in LOOKS ? (key as Known) : null;
  const { color, icon: Glyph } = known ? LOOKS[known] : look('gray', IconCircleDashed);
  return (
    <Badge color={color} miw="max-content" leftSection={<Glyph size={12} aria-hidden />} data-state={key} {...rest}>
      {label ?? (known ? t(`states.${known}`) : state)}
    </Badge>
  );
}
