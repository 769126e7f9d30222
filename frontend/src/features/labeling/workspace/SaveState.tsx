import { Badge } from '@mantine/core';
import { IconClockUp, IconCloudCheck, IconCloudOff, IconCloudUp } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { type SaveState as State, saveStateOf } from './saveState';
import type { ShownTable } from './shownTable';

const LOOKS = {
  unsafe: { color: 'red', icon: IconCloudOff },
  local: { color: 'orange', icon: IconCloudOff },
  saving: { color: 'gray', icon: IconCloudUp },
  held: { color: 'gray', icon: IconClockUp },
  saved: { color: 'teal', icon: IconCloudCheck },
} satisfies Record<State, object>;

/** Where the work is: on the server, on its way, still to be taken back, or on this machine only. */
export function SaveState({ bench }: { bench: ShownTable }) {
  const { t } = useTranslation();
  const state = saveStateOf(bench);
  const { color, icon: Glyph } = LOOKS[state];
  const words = {
    unsafe: t('labeling.work.notSaved'),
    local: t('labeling.work.savedHere', { count: bench.unsent.size }),
    saving: t('labeling.work.saving'),
    held: t('labeling.work.held', { count: bench.held?.batch.slots.length ?? 0 }),
    saved: t('labeling.work.saved'),
  };
  const urgent = state === 'unsafe' || state === 'local';
  return (
    <Badge color={color} leftSection={<Glyph size={13} />} aria-live={urgent ? 'polite' : undefined} data-save={state}>
      {words[state]}
    </Badge>
  );
}
