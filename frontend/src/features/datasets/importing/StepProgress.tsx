import { Button, Card, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { useMay } from '@/shared/domain/project';
import { AnchorLink } from '@/shared/ui/links';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { notifyError } from '@/shared/ui/undo';
import { useImportActions } from './queries';

/** How far a look or an import is. */
export function StepProgress({ run, isLook }: { run: Run; isLook: boolean }) {
  const { t } = useTranslation();
  const actions = useImportActions();
  const [stopping, setStopping] = useState(false);
  const may = useMay('researcher');
  const isRunning = run.state === 'running' || run.progress > 0;
  const step = t(isLook ? 'importing.looking' : 'importing.importing');
  const said = isRunning ? step : t('importing.waiting');
  const stop = () => {
    setStopping(true);
    actions
      .cancel(run.id)
      .catch(notifyError)
      .finally(() => setStopping(false));
  };
  return (
    <Card padding="lg" maw={720} component="section" aria-label={step}>
      <Group justify="space-between" mb="xs">
        <Text fw={600} role="status">
          {said}
        </Text>
        <Group gap="xs">
          <AnchorLink to="/runs/$runId" params={{ runId: run.id }} size="sm">
            {t('importing.openRun', { number: run.number })}
          </AnchorLink>
          {may && (
            <Button size="xs" variant="default" onClick={stop} loading={stopping}>
              {t('importing.cancel')}
            </Button>
          )}
        </Group>
      </Group>
      <ProgressBar ratio={run.progress} label={said} />
      {run.progress_text && (
        <Text size="xs" c="dimmed" mt={4}>
          {run.progress_text}
        </Text>
      )}
    </Card>
  );
}
