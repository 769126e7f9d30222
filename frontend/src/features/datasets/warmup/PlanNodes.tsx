import { Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { WarmPlan } from '@/api/contract/datasets';
import { useFormat } from '@/shared/ui/format';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { StateBadge } from '@/shared/ui/StateBadge';
import { Facts } from './Facts';
import { PlanProblem } from './PlanProblem';
import { shareOf } from './progress';

interface PlanNodesProps {
  plan: WarmPlan;
  name: string;
}

/** Each node of a plan: how far it is, where its packs came from, and its problem. */
export function PlanNodes({ plan, name }: PlanNodesProps) {
  const { t } = useTranslation();
  return (
    <Stack component="ul" gap="md" m={0} p={0} aria-label={t('warmup.showPartsOf', { name })}>
      {plan.nodes.map((part) => (
        <li key={part.node} style={{ listStyle: 'none' }}>
          <PlanNode part={part} />
        </li>
      ))}
    </Stack>
  );
}

function PlanNode({ part }: { part: WarmPlan['nodes'][number] }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { node, state, bytes_present: present, bytes_total: total, rate_bytes_s: rate, eta_s: eta } = part;
  const isMoving = state === 'warming';
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={550} style={{ overflowWrap: 'anywhere' }}>
          {node}
        </Text>
        <StateBadge state={state} label={state === 'replaced' ? t('warmup.replaced') : undefined} size="sm" />
      </Group>
      <ProgressBar // Bytes that came are not verified yet.
        ratio={Math.min(shareOf(present, total), state === 'warm' ? 1 : 0.99)}
        label={t('warmup.shareOf', { node })}
      />
      <Facts
        items={[
          [t('warmup.bytes'), t('warmup.bytesOf', { present: format.bytes(present), total: format.bytes(total) })],
          [t('warmup.speed'), isMoving && rate > 0 ? t('warmup.perSecond', { bytes: format.bytes(rate) }) : '–'],
          [t('warmup.left'), eta === null ? '–' : format.duration(eta)],
          [t('warmup.fromOrigin'), t('warmup.packs', { count: part.packs_from_origin })],
          [t('warmup.fromPeers'), t('warmup.packs', { count: part.packs_from_peers })],
          [t('warmup.failures'), format.number(part.failures)],
        ]}
      />
      {part.replaced_by && <Text size="sm">{t('warmup.replacedBy', { node: part.replaced_by })}</Text>}
      <PlanProblem of={part} isOver={state === 'failed'} />
    </Stack>
  );
}
