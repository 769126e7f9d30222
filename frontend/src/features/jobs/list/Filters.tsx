import { ActionIcon, Button, Group, Popover, Select, TextInput } from '@mantine/core';
import { IconHelpCircle, IconSearch, IconX } from '@tabler/icons-react';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useTyped } from '@/shared/forms/useTyped';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { useWorkflows } from '../queries';
import { SearchHelp } from './SearchHelp';

export interface RunFilter {
  state?: string;
  q?: string;
  tag?: string;
  created_by?: string;
  experiment?: string;
  workflow?: string;
  cluster?: string;
}

export const NO_FILTER = {
  state: undefined,
  q: undefined,
  tag: undefined,
  created_by: undefined,
  experiment: undefined,
  workflow: undefined,
  cluster: undefined,
};

const STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

/** The name by which the server knows Atom's own machines. */
const OWN = 'local';

interface FiltersProps {
  /** Names of registered clusters; without any, there is nothing to choose. */
  clusters: string[];
  filter: RunFilter;
  /** Only what changes: another field may be told before this one is shown. */
  onChange: (values: RunFilter) => void;
  /** The error of the search, with its place and the right spelling. */
  problem?: string;
}

export function Filters({ clusters, filter, onChange, problem }: FiltersProps) {
  const { t } = useTranslation();
  const field = useRef<HTMLInputElement>(null);
  const [q, setQ] = useTyped(filter.q ?? '', (value) => onChange({ q: value || undefined }));
  const [owner, setOwner] = useTyped(filter.created_by ?? '', (value) => onChange({ created_by: value || undefined }));
  const [tag, setTag] = useTyped(filter.tag ?? '', (value) => onChange({ tag: value || undefined }));
  const [experiment, setExperiment] = useTyped(filter.experiment ?? '', (value) =>
    onChange({ experiment: value || undefined }),
  );
  useShortcuts([{ keys: '/', label: t('jobs.searchRuns'), run: () => field.current?.focus() }]);
  const workflows = useWorkflows();
  const any = Object.values(filter).some(Boolean);
  return (
    <Group gap="xs" mb="sm" align="flex-start" role="search">
      <TextInput
        ref={field}
        flex={1}
        miw={240}
        size="xs"
        aria-label={t('jobs.searchRuns')}
        placeholder={t('runs.searchHint')}
        leftSection={<IconSearch size={14} />}
        rightSection={<Help />}
        maxLength={2000}
        error={problem}
        value={q}
        onChange={(event) => setQ(event.currentTarget.value)}
      />
      <Select
        size="xs"
        w={150}
        aria-label={t('jobs.state')}
        placeholder={t('jobs.anyState')}
        clearable
        data={STATES.map((state) => ({ value: state, label: t(`states.${state}`) }))}
        value={filter.state ?? null}
        onChange={(state) => onChange({ state: state ?? undefined })}
      />
      <Select
        size="xs"
        w={170}
        aria-label={t('runs.workflow')}
        placeholder={t('runs.anyWorkflow')}
        clearable
        data={workflows.data?.results.map(({ slug, title }) => ({ value: slug, label: title })) ?? []}
        value={filter.workflow ?? null}
        onChange={(workflow) => onChange({ workflow: workflow ?? undefined })}
      />
      {(clusters.length > 0 || filter.cluster) && (
        <Select
          size="xs"
          w={150}
          aria-label={t('runs.cluster')}
          placeholder={t('runs.anyCluster')}
          clearable
          data={[...new Set([OWN, ...clusters, filter.cluster ?? OWN])].map((name) => ({
            value: name,
            label: name === OWN ? t('wizard.ownMachines') : name,
          }))}
          value={filter.cluster ?? null}
          onChange={(cluster) => onChange({ cluster: cluster ?? undefined })}
        />
      )}
      <TextInput
        size="xs"
        w={140}
        aria-label={t('jobs.owner')}
        placeholder={t('jobs.owner')}
        value={owner}
        onChange={(event) => setOwner(event.currentTarget.value)}
      />
      <TextInput
        size="xs"
        w={120}
        aria-label={t('jobs.tag')}
        placeholder={t('jobs.tag')}
        value={tag}
        onChange={(event) => setTag(event.currentTarget.value)}
      />
      <TextInput
        size="xs"
        w={140}
        aria-label={t('jobs.experiment')}
        placeholder={t('jobs.experiment')}
        value={experiment}
        onChange={(event) => setExperiment(event.currentTarget.value)}
      />
      {any && (
        <Button variant="subtle" color="gray" leftSection={<IconX size={14} />} onClick={() => onChange(NO_FILTER)}>
          {t('common.clear')}
        </Button>
      )}
    </Group>
  );
}

function Help() {
  const { t } = useTranslation();
  return (
    <Popover width="min(640px, 92vw)" position="bottom-end" shadow="md" withinPortal>
      <Popover.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t('runs.help')}>
          <IconHelpCircle size={15} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <SearchHelp />
      </Popover.Dropdown>
    </Popover>
  );
}
