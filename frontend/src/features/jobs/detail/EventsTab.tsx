import { Badge, Card, Group, Skeleton, Text, Timeline } from '@mantine/core';
import { IconTimelineEvent } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Attempt, Run, RunEvent } from '@/api/contract/jobs';
import { EmptyState } from '@/shared/EmptyState';
import { ErrorState } from '@/shared/ErrorState';
import { AnchorLink } from '@/shared/links';
import { RelativeTime } from '@/shared/RelativeTime';
import { useWords } from '@/shared/runWords';
import { StateBadge } from '@/shared/StateBadge';
import { Elapsed } from '@/shared/values';
import { useEvents } from '../queries';
import { isActive } from '../states';

const isBad = ({ kind, data }: RunEvent) =>
  kind === 'failed' || kind === 'output_refused' || kind === 'registration_failed' || 'failure_class' in data;

export function EventsTab({ run }: { run: Run }) {
  const { t } = useTranslation();
  const words = useWords();
  const events = useEvents(run.id, isActive(run));
  if (events.error && !events.data) return <ErrorState error={events.error} onRetry={() => void events.refetch()} />;
  if (!events.data) return <Skeleton height={200} radius="md" />;
  const rows = events.data.results.toSorted((a, b) => b.seq - a.seq);
  return (
    <>
      {run.attempts.length > 1 && <Attempts attempts={run.attempts} />}
      {rows.length === 0 && <EmptyState icon={IconTimelineEvent} title={t('jobs.events.none')} />}
      <Timeline bulletSize={12} lineWidth={2} pt={4}>
        {rows.map((event) => (
          <Timeline.Item
            key={event.seq}
            color={isBad(event) ? 'red' : undefined}
            title={
              <Group gap="xs">
                <Text size="sm" fw={550}>
                  {words.event(event)}
                </Text>
                {event.attempt != null && (
                  <Badge size="xs" color="gray">
                    {t('jobs.attemptNumber', { number: attemptNumber(run, event.attempt) })}
                  </Badge>
                )}
              </Group>
            }
          >
            <Text size="xs" c="dimmed">
              <RelativeTime at={event.at} />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
    </>
  );
}

const attemptNumber = (run: Run, attempt: number | string) =>
  run.attempts.find(({ id }) => id === attempt)?.number ?? attempt;

function Attempts({ attempts }: { attempts: Attempt[] }) {
  const { t } = useTranslation();
  const words = useWords();
  return (
    <Card padding="sm" mb="md">
      {attempts.map((attempt) => (
        <Group key={attempt.id} gap="md" py={3}>
          <AnchorLink
            to="."
            search={(old: Record<string, unknown>) => ({ ...old, tab: 'log' as const, attempt: attempt.number })}
            size="sm"
            fw={600}
          >
            {t('jobs.attemptNumber', { number: attempt.number })}
          </AnchorLink>
          <StateBadge state={attempt.state} />
          <Text size="xs" c="dimmed">
            {attempt.node} {attempt.started_at && <Elapsed from={attempt.started_at} to={attempt.finished_at} />}
          </Text>
          {attempt.failure_reason && <Text size="xs">{words.failure(attempt)}</Text>}
          {attempt.resume_checkpoint && <Badge size="xs">{t('jobs.resumed')}</Badge>}
        </Group>
      ))}
    </Card>
  );
}
