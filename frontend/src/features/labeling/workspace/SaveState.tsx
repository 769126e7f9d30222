import { Badge } from '@mantine/core';
import { IconCloudCheck, IconCloudOff, IconCloudUp } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Workbench } from './workbench';

/** Where the work is: on the server, on its way, or safe on this machine only. */
export function SaveState({ bench }: { bench: Workbench }) {
  const { t } = useTranslation();
  if (bench.outbox.offline || bench.draftsFailed)
    return (
      <Badge color="orange" leftSection={<IconCloudOff size={13} />} aria-live="polite" data-save="local">
        {t('labeling.work.savedHere', { count: bench.outbox.waiting })}
      </Badge>
    );
  if (bench.outbox.waiting > 0 || bench.draftsUnsent > 0)
    return (
      <Badge color="gray" leftSection={<IconCloudUp size={13} />} data-save="saving">
        {t('labeling.work.saving')}
      </Badge>
    );
  return (
    <Badge color="teal" leftSection={<IconCloudCheck size={13} />} data-save="saved">
      {t('labeling.work.saved')}
    </Badge>
  );
}
