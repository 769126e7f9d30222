import { Alert, Badge, Card, Code, Group, List, Skeleton, Stack, Text, Title } from '@mantine/core';
import { type Icon, IconActivity, IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Health, HealthFinding, TaskCount } from '@/api/schema';
import { useMe } from '@/shared/domain/me';
import { useRights } from '@/shared/domain/project';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { Forbidden } from '@/shared/ui/Forbidden';
import { useFormat } from '@/shared/ui/format';
import { Page } from '@/shared/ui/Page';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { Count, Duration } from '@/shared/ui/values';
import { AdministrationHeader } from '../AdministrationHeader';
import { useHealth } from '../queries';
import { wordsOf } from './words';

type Level = Health['level'];

const LOOKS: Record<Level, { color: string; icon: Icon }> = {
  ok: { color: 'teal', icon: IconCircleCheck },
  warning: { color: 'orange', icon: IconAlertTriangle },
  problem: { color: 'red', icon: IconCircleX },
};
const BADNESS: Record<Level, number> = { problem: 0, warning: 1, ok: 2 };

/** How every part of the installation is, for its administrators. */
export function HealthPage() {
  const { t } = useTranslation();
  const { installation } = useRights();
  const me = useMe();
  return (
    <Page>
      <AdministrationHeader tab="health" subtitle={t('health.subtitle')} />
      {installation ? <Parts /> : me && <Forbidden by="installation" hint={t('health.forbidden')} />}
    </Page>
  );
}

function Parts() {
  const { t } = useTranslation();
  const query = useHealth();
  const findingColumns = useFindingColumns();
  const taskColumns = useTaskColumns();
  const findings = useMemo(
    () => query.data?.findings.toSorted((one, other) => BADNESS[one.level] - BADNESS[other.level]),
    [query.data],
  );
  if (query.isError && !query.data) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  // The content is as high as this or higher, and takes its place in one piece.
  if (!query.data) return <Loading />;
  return (
    <Stack>
      <Summary health={query.data} />
      {query.isError && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
      <section aria-labelledby="health-parts">
        <Heading id="health-parts" title={t('health.parts')}>
          <Text size="xs" c="dimmed">
            <RelativeTime at={query.data.at} />
          </Text>
        </Heading>
        <Card p={0}>
          <DataTable
            label={t('health.parts')}
            columns={findingColumns}
            rows={findings}
            rowKey={({ code, figures }) => `${code} ${figures.part ?? ''}`}
            empty={null}
          />
        </Card>
      </section>
      <section aria-labelledby="health-tasks">
        <Heading id="health-tasks" title={t('health.tasks')}>
          <Text size="xs" c="dimmed">
            {t('health.tasksHint')}
          </Text>
        </Heading>
        <Card p={0}>
          <DataTable
            label={t('health.tasks')}
            columns={taskColumns}
            rows={query.data.tasks}
            rowKey={({ name }) => name}
            empty={<EmptyState icon={IconActivity} title={t('health.noTasks')} />}
          />
        </Card>
      </section>
    </Stack>
  );
}

const Loading = () => (
  <Stack aria-busy>
    <Skeleton height={74} />
    <Skeleton height={520} />
    <Skeleton height={320} />
  </Stack>
);

function Heading({ id, title, children }: { id: string; title: string; children: React.ReactNode }) {
  return (
    <Group justify="space-between" align="baseline" mb="xs">
      <Title order={2} size="h4" id={id}>
        {title}
      </Title>
      {children}
    </Group>
  );
}

/** The findings that need a look now, with the next step; or that nothing does. */
function Summary({ health }: { health: Health }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { color, icon: Glyph } = LOOKS[health.level];
  const { level } = health;
  const bad = health.findings.filter((one) => one.level !== 'ok');
  const title =
    level === 'ok'
      ? t('health.wellTitle')
      : t(`health.${level}`, { count: bad.filter((one) => one.level === level).length });
  return (
    <Alert color={color} icon={<Glyph aria-hidden />} title={title} role="status" variant="light">
      {bad.length === 0 ? (
        <Text size="sm">{t('health.wellHint')}</Text>
      ) : (
        <List size="sm" spacing="xs">
          {bad.map((one) => {
            const words = wordsOf(one, t, format);
            return (
              <List.Item key={`${one.code} ${one.figures.part ?? ''}`}>
                <Text span fw={600}>
                  {words.name}:
                </Text>{' '}
                {words.says}
                {words.todo && (
                  <Text size="sm" c="dimmed">
                    {words.todo}
                  </Text>
                )}
              </List.Item>
            );
          })}
        </List>
      )}
    </Alert>
  );
}

function useFindingColumns(): Column<HealthFinding>[] {
  const { t } = useTranslation();
  const format = useFormat();
  return [
    {
      key: 'part',
      header: t('health.part'),
      cell: (finding) => <Text size="sm">{wordsOf(finding, t, format).name}</Text>,
    },
    {
      key: 'level',
      header: t('health.state'),
      cell: ({ level }) => {
        const { color, icon: Glyph } = LOOKS[level];
        return (
          <Badge color={color} miw="max-content" leftSection={<Glyph size={12} aria-hidden />}>
            {t(`health.levels.${level}`)}
          </Badge>
        );
      },
    },
    {
      key: 'now',
      header: t('health.now'),
      cell: (finding) => (
        <Text size="sm" style={{ whiteSpace: 'normal' }}>
          {wordsOf(finding, t, format).says}
        </Text>
      ),
    },
  ];
}

function useTaskColumns(): Column<TaskCount>[] {
  const { t } = useTranslation();
  return [
    { key: 'name', header: t('health.task'), cell: ({ name }) => <Code>{name}</Code> },
    { key: 'done', header: t('health.done'), align: 'right', cell: ({ done }) => <Count value={done} /> },
    {
      key: 'failed',
      header: t('health.failed'),
      align: 'right',
      cell: ({ failed }) => (
        <Text span size="sm" c={failed ? 'red' : undefined} fw={failed ? 600 : undefined}>
          <Count value={failed} />
        </Text>
      ),
    },
    {
      key: 'again',
      header: t('health.again'),
      align: 'right',
      from: 'md',
      cell: ({ again }) => <Count value={again} />,
    },
    {
      key: 'mean',
      header: t('health.mean'),
      align: 'right',
      from: 'sm',
      cell: ({ done, failed, again, seconds }) => <Duration seconds={seconds / Math.max(1, done + failed + again)} />,
    },
    {
      key: 'last',
      header: t('health.last'),
      from: 'sm',
      cell: ({ last_at }) => (last_at ? <RelativeTime at={new Date(last_at * 1000).toISOString()} /> : '–'),
    },
  ];
}
