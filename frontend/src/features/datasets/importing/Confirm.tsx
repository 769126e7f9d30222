import { Alert, Button, Card, Checkbox, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconFileOff } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ImportReport } from '@/api/contract/datasets';
import type { Run } from '@/api/contract/jobs';
import { useMay } from '@/shared/domain/project';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { ToChoices } from './Failure';
import classes from './importing.module.css';
import { createLossWords, shareText } from './lossWords';
import { nextStep } from './nextSteps';
import { useImportActions } from './queries';
import { sayReason } from './reasons';

const route = getRouteApi('/datasets/$name/import');
const LABELS_LOST = 'import_labels_lost';

interface ConfirmProps {
  found: ImportReport;
  run: string;
  parameters: Run['parameters'];
}

/** Files of the version as they are, without any annotation: an import would change nothing. */
const isNothingNew = ({ report }: ImportReport, { path, dataset, output }: Run['parameters']) => {
  const isOwn = String(output).split('@')[0] === String(dataset).split('@')[0];
  return report.format === 'folder' && !path && isOwn && report.objects === 0;
};

/** The question at the end of a report: import, import with a loss, or nothing. */
export function Confirm({ found, run, parameters }: ConfirmProps) {
  const { t } = useTranslation();
  const may = useMay('researcher');
  const { refusal, report } = found;
  const isEmpty = report.files === 0;
  if (isEmpty || isNothingNew(found, parameters))
    return (
      <Card padding="lg">
        <EmptyState
          compact
          icon={IconFileOff}
          title={t(isEmpty ? 'importing.nothingEmpty' : 'importing.nothing')}
          action={<ToChoices />}
        />
      </Card>
    );
  if (refusal && refusal.code !== LABELS_LOST)
    return (
      <Stack gap="sm" align="flex-start">
        <Alert
          color="orange"
          w="100%"
          icon={<IconAlertTriangle size={18} />}
          title={refusal.code === 'import_problems' ? t('importing.refusedStrict') : t('importing.failed')}
          style={{ overflowWrap: 'anywhere' }}
        >
          <Text size="sm">{sayReason(refusal.detail)}</Text>
          <Text size="sm">{t(nextStep(refusal.code))}</Text>
        </Alert>
        <ToChoices />
      </Stack>
    );
  if (!may) return null;
  return <Question found={found} run={run} />;
}

/** Below the bar one button; above it the loss is accepted by its number, which goes with the request. */
function Question({ found: { report, output }, run }: Pick<ConfirmProps, 'found' | 'run'>) {
  const { t } = useTranslation();
  const navigate = route.useNavigate();
  const actions = useImportActions();
  const words = useMemo(() => createLossWords(t), [t]);
  const [accepts, setAccepts] = useState(false);
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { above, allowed, needed } = report.losses;
  const isAbove = above.length > 0;
  const send = async () => {
    setSending(true);
    setError(null);
    try {
      const made = await actions.confirm(run, isAbove ? needed : undefined);
      void navigate({ search: (old) => ({ ...old, run: made }) });
    } catch (thrown) {
      setError(thrown);
    } finally {
      setSending(false);
    }
  };
  const button = (
    <Button
      onClick={() => void send()}
      loading={sending}
      disabled={isAbove && !accepts}
      color={isAbove ? 'orange' : undefined}
      classNames={{ root: classes.wide, label: classes.wideLabel }}
      data-first-action
    >
      {isAbove ? t('importing.importAccepting', { losses: words.losses(above.slice(0, 1)) }) : t('importing.import')}
    </Button>
  );
  return (
    <Stack gap="sm">
      {isAbove && (
        <Alert
          color="orange"
          icon={<IconAlertTriangle size={18} />}
          title={t('importing.tooMuchTitle', { allowed: shareText(allowed) })}
          style={{ overflowWrap: 'anywhere' }}
        >
          <Text size="sm" mb="sm">
            {t('importing.tooMuchHint')}
          </Text>
          <Checkbox
            checked={accepts}
            onChange={(event) => setAccepts(event.currentTarget.checked)}
            label={t('importing.accept', { losses: words.losses(above) })}
          />
        </Alert>
      )}
      {error !== null && <ErrorState error={error} compact />}
      <Group gap="xs">
        {button}
        <ToChoices />
      </Group>
      <Text size="sm" c="dimmed">
        {t('importing.importHint', { output })}
      </Text>
    </Stack>
  );
}
