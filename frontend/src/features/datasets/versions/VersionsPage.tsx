import { Badge, Button, Card, Group, Select, Text } from '@mantine/core';
import { IconGitBranch, IconGitCompare, IconGitMerge, IconHistory } from '@tabler/icons-react';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Tag, Version } from '@/api/contract/datasets';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CommandLine } from '@/shared/ui/CommandLine';
import { CopyId } from '@/shared/ui/CopyId';
import { EmptyState } from '@/shared/ui/EmptyState';
import { FailedPage } from '@/shared/ui/FailedPage';
import { useFormat } from '@/shared/ui/format';
import { AnchorLink, ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { Bytes } from '@/shared/ui/values';
import { DatasetHeader } from '../DatasetHeader';
import { FileCount } from '../FileCount';
import { authorName } from '../names';
import { OperationsNow } from '../operations/OperationsNow';
import { RefsPanel } from '../operations/RefsPanel';
import { useDataset, useRefs, useVersions } from '../queries';
import { ToDatasets } from '../ToDatasets';
import { ChangeCounts, ChangeLegend } from './ChangeCounts';
import { layerWords } from './layerWords';
import { VersionKept } from './VersionKept';

const route = getRouteApi('/datasets/$name/versions');

export function VersionsPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const dataset = useDataset(name);
  const { branch = 'main' } = route.useSearch();
  const versions = useVersions(name, branch);
  const refs = useRefs(name);
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const columns = useColumns(name, refs.tags);
  const hasVersions = versions.rows !== undefined || versions.error != null;
  if (dataset.error && !dataset.data)
    return (
      <FailedPage title={name} above={<ToDatasets />} error={dataset.error} onRetry={() => void dataset.refetch()} />
    );
  return (
    <Page>
      <DatasetHeader name={name} tab="versions">
        <BranchSelect name={name} branch={branch} />
        <CompareButton name={name} versions={versions.rows ?? []} selected={selected} />
      </DatasetHeader>
      <OperationsNow name={name} />
      <ChangeLegend />
      <Card p={0}>
        <DataTable
          {...versions}
          label={t('datasets.versions')}
          columns={columns}
          rowKey={({ id }) => id}
          rowName={({ ref }) => ref}
          rowLink={({ ref }) => ({ to: '/datasets/$name', params: { name }, search: { ref } })}
          selected={selected}
          onSelect={setSelected}
          empty={
            <EmptyState
              icon={IconHistory}
              title={t('datasets.noVersion')}
              action={<CommandLine command={`atom data push ./${name} ${name}`} />}
            />
          }
        />
      </Card>
      {/* How high a table becomes is not known: what stands below it comes after it, and nothing moves. */}
      {hasVersions && <RefsPanel name={name} branch={branch} />}
    </Page>
  );
}

function BranchSelect({ name, branch }: { name: string; branch: string }) {
  const { t } = useTranslation();
  const navigate = route.useNavigate();
  const names = useRefs(name).branches.map((one) => one.name);
  return (
    <Select
      size="xs"
      w={150}
      aria-label={t('datasets.branch')}
      leftSection={<IconGitBranch size={14} />}
      data={[...new Set([branch, ...names])]}
      value={branch}
      onChange={(next) => void navigate({ search: (old) => ({ ...old, branch: next ?? undefined }) })}
      allowDeselect={false}
    />
  );
}

interface CompareButtonProps {
  name: string;
  versions: Version[];
  selected: ReadonlySet<string>;
}

/** The two selected versions, older first; with none selected, the page offers the last two. */
function CompareButton({ name, versions, selected }: CompareButtonProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const chosen = versions.filter(({ id }) => selected.has(id));
  const [to, from] = chosen.length === 2 ? chosen : versions;
  if (chosen.length !== 0 && chosen.length !== 2)
    return (
      <Text size="xs" c="dimmed" role="status">
        {t('datasets.compareHint')}
      </Text>
    );
  if (!from || !to)
    return (
      <Button variant="default" disabled leftSection={<IconGitCompare size={15} />}>
        {t('datasets.compare')}
      </Button>
    );
  const search = { from: from.ref, to: to.ref };
  return chosen.length === 2 ? (
    <Button
      leftSection={<IconGitCompare size={15} />}
      onClick={() => void navigate({ to: '/datasets/$name/diff', params: { name }, search })}
    >
      {t('datasets.compareSelected')}
    </Button>
  ) : (
    <ButtonLink
      to="/datasets/$name/diff"
      params={{ name }}
      search={search}
      variant="default"
      leftSection={<IconGitCompare size={15} />}
    >
      {t('datasets.compare')}
    </ButtonLink>
  );
}

function useColumns(name: string, tags: Tag[]): Column<Version>[] {
  const { t } = useTranslation();
  const format = useFormat();
  return useMemo<Column<Version>[]>(() => {
    const tagsOf = (version: Version) => tags.filter((tag) => tag.version?.id === version.id);
    return [
      { key: 'ref', header: t('datasets.version'), width: 90, cell: ({ ref }) => ref },
      {
        key: 'message',
        header: t('datasets.message'),
        cell: (version) => (
          <Group gap={6}>
            <Text size="sm" c={version.message ? undefined : 'dimmed'}>
              {version.message || t('datasets.noMessage')}
            </Text>
            <VersionKept dataset={name} version={version} />
            <MergeParents name={name} parents={version.parents} />
            {tagsOf(version).map((tag) => (
              <Badge key={tag.name} size="sm">
                {tag.name}
              </Badge>
            ))}
            {version.layers.map((layer) => (
              <Badge key={layer.name} size="sm" miw="max-content" color="gray">
                {t('datasets.layerRows', { name: layerWords(layer.name, t), rows: format.number(layer.rows) })}
              </Badge>
            ))}
          </Group>
        ),
      },
      { key: 'changes', header: t('datasets.changes'), cell: (version) => <ChangeCounts {...version} /> },
      {
        key: 'files',
        header: t('datasets.files'),
        align: 'right',
        from: 'md',
        cell: (version) => <FileCount version={version} />,
      },
      {
        key: 'size',
        header: t('datasets.size'),
        align: 'right',
        from: 'md',
        cell: ({ size_bytes }) => <Bytes value={size_bytes} />,
      },
      {
        key: 'author',
        header: t('datasets.author'),
        from: 'md',
        nowrap: true,
        cell: authorName,
      },
      {
        key: 'when',
        header: t('datasets.when'),
        nowrap: true,
        cell: ({ created_at }) => <RelativeTime at={created_at} />,
      },
      {
        key: 'commit',
        header: t('datasets.commit'),
        from: 'lg',
        cell: ({ commit }) => <CopyId value={commit} chars={8} />,
      },
    ];
  }, [name, tags, t, format]);
}

/** Both parents of a merge; a version that has one came from the row below it. */
function MergeParents({ name, parents }: { name: string; parents: readonly string[] }) {
  const { t } = useTranslation();
  if (parents.length < 2) return null;
  return (
    <Badge size="sm" color="grape" leftSection={<IconGitMerge size={12} aria-hidden />} tt="none">
      {t('versioning.mergedFrom')}{' '}
      {parents.map((parent, index) => (
        <span key={parent}>
          {index > 0 && ' + '}
          <AnchorLink to="/datasets/$name" params={{ name }} search={{ ref: parent }} inherit>
            {parent.slice(0, 8)}
          </AnchorLink>
        </span>
      ))}
    </Badge>
  );
}
