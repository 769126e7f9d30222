import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { useWords } from '@/shared/domain/runWords';
import { AnchorLink } from '@/shared/ui/links';
import { nextStep } from './nextSteps';
import { sayReason } from './reasons';

const route = getRouteApi('/datasets/$name/import');

/** Nothing was imported: why, and back to the choices. */
export function Failure({ run, children }: { run?: Run; children?: ReactNode }) {
  return (
    <Stack align="flex-start" gap="sm" maw={720}>
      {run ? <RunFailed run={run} /> : children}
      <ToChoices />
    </Stack>
  );
}

function RunFailed({ run }: { run: Run }) {
  const { t } = useTranslation();
  const words = useWords();
  const params = run.failure?.code === 'import_refused' ? run.failure.params : undefined;
  const reason = params ? sayReason(String(params.error)) : words.failure(run);
  const next = params ? t(nextStep(String(params.reason))) : words.suggestion(run);
  return (
    <Alert
      color="red"
      icon={<IconAlertTriangle size={18} />}
      title={t('importing.failed')}
      role="alert"
      style={{ overflowWrap: 'anywhere' }}
    >
      <Text size="sm">{reason}</Text>
      {next && (
        <Text size="sm" mt={4}>
          {next}
        </Text>
      )}
      <Group mt={6}>
        <AnchorLink to="/runs/$runId" params={{ runId: run.id }} size="sm">
          {t('importing.openRun', { number: run.number })}
        </AnchorLink>
      </Group>
    </Alert>
  );
}

/** The form again, with the archive or folder that was chosen. */
export function ToChoices() {
  const { t } = useTranslation();
  const navigate = route.useNavigate();
  return (
    <Button
      variant="default"
      onClick={() => void navigate({ search: ({ ref, path }) => ({ ref, path }) })}
      data-first-action
    >
      {t('importing.choices')}
    </Button>
  );
}
