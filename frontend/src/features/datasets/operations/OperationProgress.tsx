import { Box, Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import type { Operation, Progressing } from './operation';

interface OperationProgressProps {
  operation: Pick<Operation, 'running' | 'cancel'>;
  /** Left out where another button cancels it. */
  withCancel?: boolean;
}

function useStep() {
  const { t } = useTranslation();
  return ({ state, stage, rows_done, rows_total, cancellable }: Progressing) => {
    if (state === 'pending') return t('versioning.stage.waiting');
    if (!cancellable) return t('versioning.stage.finishing');
    if (!stage) return t('versioning.stage.beginning');
    const rows = rows_total > 0 ? t('versioning.stage.rows', { done: rows_done, total: rows_total }) : '';
    return [t(`versioning.stage.${stage}`), rows].filter(Boolean).join(': ');
  };
}

/** How far the server is with what was asked for; nothing while it does nothing. */
export function OperationProgress({ operation: { running, cancel }, withCancel = false }: OperationProgressProps) {
  const { t } = useTranslation();
  const step = useStep();
  if (!running) return null;
  const label = step(running);
  return (
    <Box>
      <Group justify="space-between" mb={4} wrap="nowrap">
        <Text size="sm" className="tabular">
          {label}
        </Text>
        {withCancel && (
          <Button size="xs" variant="default" onClick={cancel} disabled={!running.cancellable}>
            {t('common.cancel')}
          </Button>
        )}
      </Group>
      <ProgressBar ratio={running.progress} label={label} />
    </Box>
  );
}
