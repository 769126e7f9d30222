import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  SimpleGrid,
  Skeleton,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { Cluster } from '@/api/contract/jobs';
import { whenReachable } from '@/shared/live/connection';
import { useFormat } from '@/shared/ui/format';
import { AUTO } from '../places/placeWords';
import { useClusters } from '../queries';
import { DeliveryRows } from './DeliveryRows';
import { COMMAND, type Draft, type EnvRow } from './draft';
import { mayLeave } from './draftPlace';
import { inputsOf, nodesOf, resourcesOf } from './draftRequest';
import { Launcher, Sum } from './Nodes';
import { NumberField } from './NumberField';
import { SecretNames } from './SecretNames';
import type { StepProps } from './stepProps';

const PlaceField = lazy(whenReachable(() => import('./PlaceField')));

// The server's limits: 16 MiB, 20 times, 256 nodes.
const LEAST_MEMORY_GIB = 1 / 64;
const MOST_RETRIES = 20;
const MOST_NODES = 256;

interface Free {
  cpus: number;
  memory_bytes: number;
  gpus: number;
}

/** GPUs that nobody holds, of one kind if the run names it; nodes of registered clusters have them by kind only. */
function freeGpus({ accelerators, gpu_count, used }: Cluster['nodes'][number], kind: string): number {
  if (accelerators.length === 0) return gpu_count - used.gpus;
  const ofKind = accelerators.filter((one) => !kind || one.kind === kind);
  const held = kind ? (ofKind[0]?.used ?? used.gpus) : used.gpus;
  return Math.max(0, ofKind.reduce((sum, { count }) => sum + count, 0) - held);
}

/** The most that one node has free now: the resources of a run are those of each of its nodes. */
function mostFree(clusters: Cluster[] | undefined, kind: string): Free | null {
  const nodes = clusters?.flatMap((cluster) => cluster.nodes).filter((node) => node.schedulable) ?? [];
  if (nodes.length === 0) return null;
  return {
    cpus: Math.max(...nodes.map((node) => node.cpu_count - node.used.cpus)),
    memory_bytes: Math.max(...nodes.map((node) => node.memory_bytes - node.used.memory_bytes)),
    gpus: Math.max(...nodes.map((node) => freeGpus(node, kind))),
  };
}

const isOwn = (cluster: Cluster) => cluster.kind !== 'kubernetes';

export function ResourcesStep({ draft, dispatch, errors, workflow }: StepProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const clusters = useClusters().data?.results;
  const free = mostFree(
    clusters?.filter((cluster) =>
      mayLeave(draft) ? draft.cluster === AUTO || cluster.name === draft.cluster : isOwn(cluster),
    ),
    draft.accelerator,
  );
  const nodes = Number(nodesOf(draft));
  // Atom's own machines run on one node; a field that could only be wrong is not shown.
  const maySpan = mayLeave(draft) || nodes !== 1 || clusters?.some((cluster) => !isOwn(cluster));
  const isMounted = Object.values(draft.deliveries ?? {}).includes('mount');
  const set = (values: Partial<Draft>) => dispatch({ type: 'set', values });
  const hint = (amount: string | undefined) => (amount === undefined ? '\u00a0' : t('wizard.free', { amount }));
  const at = (name: string) => errors[`resources.${name}`] ?? errors[name];
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <NumberField
          label={t('jobs.cpus')}
          description={hint(free ? format.number(free.cpus) : undefined)}
          min={1}
          value={draft.cpus}
          error={at('cpus')}
          onChange={(cpus) => set({ cpus })}
        />
        <NumberField
          label={t('wizard.memoryGib')}
          description={hint(free ? format.bytes(free.memory_bytes) : undefined)}
          min={LEAST_MEMORY_GIB}
          decimals={2}
          value={draft.memoryGib}
          error={at('memory_bytes')}
          onChange={(memoryGib) => set({ memoryGib })}
        />
        <NumberField
          label={t('jobs.gpus')}
          description={hint(free ? format.number(free.gpus) : undefined)}
          min={0}
          value={draft.gpus}
          error={at('gpus')}
          onChange={(gpus) => set({ gpus })}
        />
        <NumberField
          label={t('wizard.timeoutMinutes')}
          description={t('wizard.timeoutHint')}
          min={0}
          decimals={2}
          value={draft.timeoutMinutes ?? ''}
          error={errors.timeout_s}
          onChange={(timeoutMinutes) => set({ timeoutMinutes })}
        />
        <NumberField
          label={t('jobs.maxRetries')}
          description={t('wizard.retriesHint')}
          min={0}
          max={MOST_RETRIES}
          value={draft.maxRetries}
          error={errors.max_retries}
          onChange={(maxRetries) => set({ maxRetries })}
        />
        {maySpan && (
          <NumberField
            label={t('wizard.nodes')}
            description={t(draft.workflow === COMMAND ? 'wizard.nodesHint' : 'wizard.nodesOfWorkflow')}
            min={1}
            max={MOST_NODES}
            value={nodesOf(draft)}
            error={errors.nodes}
            onChange={(value) => set({ nodes: value })}
          />
        )}
      </SimpleGrid>
      {nodes > 1 && <Sum nodes={nodes} resources={resourcesOf(draft) ?? {}} />}
      {(nodes > 1 || errors.launcher) && (
        <Launcher value={draft.launcher ?? 'plain'} error={errors.launcher} onChange={set} />
      )}
      <Suspense fallback={<Skeleton h={148} />}>
        <PlaceField draft={draft} workflow={workflow} errors={errors} onChange={set} />
      </Suspense>
      <DeliveryRows
        // A registered cluster streams; a mount that was chosen before is shown, so that it can be given up.
        inputs={mayLeave(draft) && !isMounted ? [] : inputsOf(draft, workflow)}
        deliveries={draft.deliveries ?? {}}
        errors={errors}
        onChange={(deliveries) => set({ deliveries })}
      />
      {draft.workflow === COMMAND && (
        <Checkbox
          label={t('jobs.mayWrite')}
          description={t('wizard.mayWriteHint')}
          checked={draft.mayWrite}
          error={errors.may_write}
          onChange={(event) => set({ mayWrite: event.currentTarget.checked })}
        />
      )}
      <TagsInput
        label={t('wizard.tags')}
        placeholder={draft.tags.length === 0 ? t('wizard.tagsHint') : undefined}
        value={draft.tags}
        error={errors.tags}
        onChange={(tags) => set({ tags })}
      />
      <SecretNames names={draft.secrets} errors={errors} onChange={(secrets) => set({ secrets })} />
      <EnvRows rows={draft.env} errors={errors} onChange={(env) => set({ env })} />
    </Stack>
  );
}

interface EnvRowsProps {
  rows: EnvRow[];
  errors: Record<string, string>;
  onChange: (rows: EnvRow[]) => void;
}

function EnvRows({ rows, errors, onChange }: EnvRowsProps) {
  const { t } = useTranslation();
  const replace = (index: number, values: Partial<EnvRow>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...values } : row)));
  return (
    <Stack gap={6} role="group" aria-label={t('jobs.config.variables')}>
      <Text size="sm" fw={500}>
        {t('jobs.config.variables')}
      </Text>
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity of their own
        <Group key={index} gap="xs" wrap="nowrap" align="flex-start">
          <TextInput
            w={220}
            aria-label={t('wizard.envName')}
            placeholder={t('wizard.envName')}
            value={row.name}
            error={errors[`env.${row.name}`]}
            onChange={(event) => replace(index, { name: event.currentTarget.value })}
          />
          <TextInput
            flex={1}
            aria-label={t('wizard.envValue', { name: row.name })}
            placeholder={t('wizard.value')}
            value={row.value}
            onChange={(event) => replace(index, { value: event.currentTarget.value, isUnknown: undefined })}
          />
          <ActionIcon
            color="gray"
            size="lg"
            aria-label={t('wizard.removeEnv', { name: row.name })}
            onClick={() => onChange(rows.filter((_, at) => at !== index))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      <div>
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...rows, { name: '', value: '' }])}
        >
          {t('wizard.addEnv')}
        </Button>
      </div>
    </Stack>
  );
}
