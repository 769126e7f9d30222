import { Card, Skeleton, Stack, Title } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { whenReachable } from '@/shared/live/connection';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { isTracked } from '../states';
import { ConfigTab } from './ConfigTab';
import { Described } from './Described';
import { EventsTab } from './EventsTab';
import { FailurePanel } from './FailurePanel';
import { RegisteredVersions } from './RegisteredVersions';

const CurvesTab = lazy(whenReachable(async () => ({ default: (await import('../curves/CurvesTab')).CurvesTab })));

/** All of a run that belongs on paper: the tabs one below the other, the result first, no log. */
export function RunReport({ run }: { run: Run }) {
  const { t } = useTranslation();
  return (
    <Stack>
      <Described run={run} />
      {run.state === 'failed' && !isTracked(run) && <FailurePanel run={run} />}
      <Result run={run} />
      <ConfigTab run={run} />
      <section aria-label={t('jobs.tab.curves')}>
        <Title order={2} fz="sm" mb="xs">
          {t('jobs.tab.curves')}
        </Title>
        <Suspense fallback={<Skeleton height={240} />}>
          <CurvesTab run={run} />
        </Suspense>
      </section>
      <section aria-label={t('jobs.tab.events')}>
        <Title order={2} fz="sm" mb="xs">
          {t('jobs.tab.events')}
        </Title>
        <EventsTab run={run} />
      </section>
    </Stack>
  );
}

function Result({ run }: { run: Run }) {
  const { t } = useTranslation();
  const format = useFormat();
  const metrics = Object.entries(run.metrics_summary).filter(([key]) => !key.startsWith('system/'));
  if (metrics.length === 0 && run.model_versions.length === 0) return null;
  return (
    <Card padding="md">
      <Title order={2} fz="sm" mb="xs">
        {t('report.result')}
      </Title>
      <KeyValueList
        items={[
          ...metrics.map(([key, value]): [string, ReactNode] => [
            key,
            typeof value === 'number' ? format.metric(value) : String(value),
          ]),
          [t('report.registered'), run.model_versions.length > 0 && <RegisteredVersions key="registered" run={run} />],
        ]}
      />
    </Card>
  );
}
