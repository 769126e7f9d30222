import { Badge, Card, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Attempt } from '@/api/contract/jobs';
import { useWords } from '@/shared/domain/runWords';
import { AnchorLink } from '@/shared/ui/links';
import { Elapsed } from '@/shared/ui/values';
import { RunState } from '../RunState';

/** One attempt of one rank is what the page's header says already. */
export const isWorthAList = (attempts: Attempt[]) =>
  attempts.length > 1 || attempts.some(({ ranks }) => ranks.length > 1);

export function Attempts({ attempts }: { attempts: Attempt[] }) {
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
          <RunState run={attempt} />
          <Text size="xs" c="dimmed">
            {placeOf(attempt)} {attempt.started_at && <Elapsed from={attempt.started_at} to={attempt.finished_at} />}
          </Text>
          {attempt.failure_reason && <Text size="xs">{words.failure(attempt)}</Text>}
          {attempt.resume_checkpoint && <Badge size="xs">{t('jobs.resumed')}</Badge>}
          {attempt.ranks.length > 1 && <Ranks ranks={attempt.ranks} />}
        </Group>
      ))}
    </Card>
  );
}

/** The cluster and the node of an attempt; of several ranks each says its own node. */
const placeOf = ({ cluster, node, ranks }: Attempt) =>
  (ranks.length > 1 ? [cluster] : [cluster, node]).filter(Boolean).join(' / ');

function Ranks({ ranks }: { ranks: Attempt['ranks'] }) {
  const { t } = useTranslation();
  return (
    <Group component="ul" gap="xs" w="100%" m={0} pl="md">
      {ranks.map(({ number, node, pod, exit_code }) => (
        <Text key={number} component="li" size="xs" c="dimmed" mr="md">
          {t('jobs.rank', { number, node: node ?? '–' })}
          {pod && ` · ${pod}`}
          {exit_code != null && ` · ${t('jobs.exitCode', { code: exit_code })}`}
        </Text>
      ))}
    </Group>
  );
}
