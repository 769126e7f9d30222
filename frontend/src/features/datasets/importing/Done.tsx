import { Alert, Button, Group, Stack } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ImportReport } from '@/api/contract/datasets';
import { ButtonLink } from '@/shared/ui/links';
import { useRefresh } from '../operationQueries';
import { Counts } from './Counts';
import { Lines } from './Lines';
import { createLossWords } from './lossWords';

const route = getRouteApi('/datasets/$name/import');

interface DoneProps {
  report: ImportReport;
  version: NonNullable<ImportReport['version']>;
}

/** The version that an import made, with its counts. */
export function Done({ report: { report }, version }: DoneProps) {
  const { t } = useTranslation();
  const navigate = route.useNavigate();
  const refresh = useRefresh();
  const words = useMemo(() => createLossWords(t), [t]);
  const lost = words.effects(report);
  const named = `${version.dataset}@${version.ref}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each version
  useEffect(() => void refresh(), [named]);
  return (
    <Alert
      color="teal"
      maw={720}
      icon={<IconCircleCheck size={18} />}
      title={t(version.unchanged ? 'importing.doneUnchanged' : 'importing.done', { version: named })}
      role="status"
    >
      <Stack gap="sm" align="flex-start">
        <Counts report={report} />
        {lost.length > 0 && <Lines lines={lost} />}
        <Group gap="xs">
          <ButtonLink
            size="xs"
            to="/datasets/$name"
            params={{ name: version.dataset }}
            search={{ ref: version.ref }}
            data-first-action
          >
            {t('importing.open')}
          </ButtonLink>
          <Button size="xs" variant="default" onClick={() => void navigate({ search: ({ ref }) => ({ ref }) })}>
            {t('importing.again')}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
