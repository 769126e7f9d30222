import { Button, Card, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CleaningReport } from '@/api/contract/datasets';
import { AnchorLink } from '@/shared/ui/links';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { notifyError } from '@/shared/ui/undo';

interface ReportProgressProps {
  report: CleaningReport;
  /** Left out for those who may not. */
  cancel?: () => Promise<unknown>;
}

/** How far a report is, and the run that measures for it. */
export function ReportProgress({ report, cancel }: ReportProgressProps) {
  const { t } = useTranslation();
  const [stopping, setStopping] = useState(false);
  const { run, state } = report;
  const stop = () => {
    setStopping(true);
    cancel?.()
      .catch(notifyError)
      .finally(() => setStopping(false));
  };
  return (
    <Card padding="lg">
      <Group justify="space-between" mb="xs">
        <Text fw={600} role="status">
          {t(`cleaning.state.${state}`)}
        </Text>
        <Group gap="xs">
          {run && (
            <AnchorLink to="/runs/$runId" params={{ runId: run.id }} size="sm">
              {t('cleaning.openRun', { number: run.number })}
            </AnchorLink>
          )}
          {cancel && (
            <Button size="xs" variant="default" onClick={stop} loading={stopping}>
              {t('cleaning.cancel')}
            </Button>
          )}
        </Group>
      </Group>
      <ProgressBar ratio={state === 'comparing' ? 1 : (run?.progress ?? 0)} label={t(`cleaning.state.${state}`)} />
      {run?.progress_text && (
        <Text size="xs" c="dimmed" mt={4}>
          {run.progress_text}
        </Text>
      )}
    </Card>
  );
}
