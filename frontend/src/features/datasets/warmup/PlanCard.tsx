import { Badge, Button, Collapse, Group, Paper, Stack, Text } from '@mantine/core';
import { IconChevronDown, IconChevronRight, IconPin } from '@tabler/icons-react';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { WarmPlan } from '@/api/contract/datasets';
import { useFormat } from '@/shared/ui/format';
import { AnchorLink } from '@/shared/ui/links';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { Facts } from './Facts';
import { PlanAction } from './PlanAction';
import { PlanNodes } from './PlanNodes';
import { PlanProblem } from './PlanProblem';
import { progressOf, shareOf } from './progress';
import { isRunning } from './queries';

interface PlanCardProps {
  plan: WarmPlan;
  /** Whether the card names its version: not on the version's own page. */
  withVersion?: boolean;
  open: boolean;
  onOpen: (open: boolean) => void;
}

/** A warm-up plan: how far it is, why it failed, and its nodes. */
export function PlanCard({ plan, withVersion = false, open, onOpen }: PlanCardProps) {
  const { t } = useTranslation();
  const nodesId = useId();
  const name = `${plan.dataset}@${plan.ref}`;
  const Chevron = open ? IconChevronDown : IconChevronRight;
  const progress = progressOf(plan);
  return (
    <Paper withBorder p="sm" role="group" aria-label={t('warmup.planOf', { name, cluster: plan.cluster })}>
      <Stack gap="xs">
        <Group justify="space-between" align="flex-start" gap="xs">
          <Title plan={plan} name={name} withVersion={withVersion} />
          <PlanAction plan={plan} name={name} />
        </Group>
        <ProgressBar
          ratio={shareOf(progress.bytesPresent, progress.bytesTotal)}
          label={t('warmup.progressOf', { name })}
        />
        <PlanFacts plan={plan} />
        <PlanProblem of={plan} isOver />
        <div>
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            leftSection={<Chevron size={14} aria-hidden />}
            aria-expanded={open}
            aria-controls={nodesId}
            aria-label={t('warmup.showPartsOf', { name })}
            onClick={() => onOpen(!open)}
          >
            {t('warmup.showParts')}
          </Button>
        </div>
        <Collapse expanded={open} id={nodesId}>
          {open && <PlanNodes plan={plan} name={name} />}
        </Collapse>
      </Stack>
    </Paper>
  );
}

function Title({ plan, name, withVersion }: { plan: WarmPlan; name: string; withVersion: boolean }) {
  const { t } = useTranslation();
  return (
    <div style={{ minWidth: 0 }}>
      <Group gap="xs">
        {withVersion && (
          <AnchorLink
            to="/datasets/$name/warm-up"
            params={{ name: plan.dataset }}
            search={{ ref: plan.ref }}
            fw={600}
            size="sm"
            style={{ overflowWrap: 'anywhere' }}
          >
            {name}
          </AnchorLink>
        )}
        <AnchorLink to="/settings/clusters/$cluster" params={{ cluster: plan.cluster }} size="sm">
          {t('warmup.inCluster', { cluster: plan.cluster })}
        </AnchorLink>
        <StateBadge state={plan.state} size="sm" />
        {plan.pinned && (
          <Badge size="sm" color="grape" variant="light" leftSection={<IconPin size={12} aria-hidden />}>
            {t('warmup.pinned')}
          </Badge>
        )}
      </Group>
      <Text size="xs" c="dimmed" component="div">
        {plan.created_by && `${t('warmup.startedBy', { name: plan.created_by })} · `}
        <RelativeTime at={plan.created_at} />
        {plan.ended_at && (
          <>
            {` · ${t('warmup.ended')} `}
            <RelativeTime at={plan.ended_at} />
          </>
        )}
      </Text>
    </div>
  );
}

/** Until when a plan keeps its version, if there is room; null for none, and once the plan has no effect. */
const keptUntil = ({ keep_until, state }: WarmPlan) =>
  keep_until !== null && (state === 'running' || state === 'done') && Date.parse(keep_until) > Date.now()
    ? keep_until
    : null;

function PlanFacts({ plan }: { plan: WarmPlan }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { bytesPresent, bytesTotal, rate, etaS, nodes, nodesDone, failures } = progressOf(plan);
  const perSecond = (bytes: number) => t('warmup.perSecond', { bytes: format.bytes(bytes) });
  const running = isRunning(plan);
  return (
    <Facts
      items={[
        [
          t('warmup.bytes'),
          t('warmup.bytesOf', { present: format.bytes(bytesPresent), total: format.bytes(bytesTotal) }),
        ],
        [t('warmup.nodesDone'), t('warmup.nodesDoneOf', { done: nodesDone, all: nodes })],
        [t('warmup.speed'), running ? (rate > 0 ? perSecond(rate) : '–') : null],
        [t('warmup.left'), running ? (etaS === null ? '–' : format.duration(etaS)) : null],
        [t('warmup.failures'), format.number(failures)],
        [t('warmup.limit'), plan.rate_bytes_s === null ? null : perSecond(plan.rate_bytes_s)],
        [t('warmup.deadline'), plan.deadline === null ? null : <RelativeTime key="at" at={plan.deadline} />],
        [t('warmup.staysUntil'), keptUntil(plan) && <RelativeTime key="kept" at={keptUntil(plan)} />],
      ]}
    />
  );
}
