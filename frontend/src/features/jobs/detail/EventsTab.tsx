import { Badge, Button, Group, Skeleton, Text, Timeline } from '@mantine/core';
import { IconTimelineEvent } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunEvent } from '@/api/contract/jobs';
import { useWords } from '@/shared/domain/runWords';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { useEvents } from '../queries';
import { isActive } from '../states';
import { Attempts, isWorthAList } from './Attempts';
import { foldEvents } from './foldEvents';

const isBad = ({ kind, data }: RunEvent) =>
  kind === 'failed' || kind === 'output_refused' || kind === 'registration_failed' || 'failure_class' in data;

export function EventsTab({ run }: { run: Run }) {
  const { t } = useTranslation();
  const events = useEvents(run.id, isActive(run));
  if (events.error && !events.data) return <ErrorState error={events.error} onRetry={() => void events.refetch()} />;
  if (!events.data) return <Skeleton height={200} radius="md" />;
  const rows = events.data.results.toSorted((a, b) => b.seq - a.seq);
  return (
    <>
      {isWorthAList(run.attempts) && <Attempts attempts={run.attempts} />}
      {rows.length === 0 && <EmptyState icon={IconTimelineEvent} title={t('jobs.events.none')} />}
      <Timeline bulletSize={12} lineWidth={2} pt={4}>
        {foldEvents(rows).map((fold) => (
          // A fold grows at its newest end: its oldest event names it.
          <Fold key={fold.at(-1)?.seq} run={run} events={fold} />
        ))}
      </Timeline>
    </>
  );
}

/** Events of one kind that follow each other: the newest is shown, the others on demand. */
function Fold({ run, events, ...item }: { run: Run; events: RunEvent[] }) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const [newest, ...older] = events as [RunEvent, ...RunEvent[]];
  return (
    // A timeline numbers its items by the properties that it gives them.
    <Timeline.Item {...item} color={isBad(newest) ? 'red' : undefined} title={<EventTitle run={run} event={newest} />}>
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          <RelativeTime at={newest.at} />
        </Text>
        {older.length > 0 && (
          <Button size="compact-xs" variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? t('jobs.events.showNewest') : t('jobs.events.showAll', { count: events.length })}
          </Button>
        )}
      </Group>
      {isOpen &&
        older.map((event) => (
          <div key={event.seq} style={{ marginTop: 6 }}>
            <EventTitle run={run} event={event} />
            <Text size="xs" c="dimmed">
              <RelativeTime at={event.at} />
            </Text>
          </div>
        ))}
    </Timeline.Item>
  );
}

function EventTitle({ run, event }: { run: Run; event: RunEvent }) {
  const { t } = useTranslation();
  const words = useWords();
  return (
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
  );
}

const attemptNumber = (run: Run, attempt: number | string) =>
  run.attempts.find(({ id }) => id === attempt)?.number ?? attempt;
