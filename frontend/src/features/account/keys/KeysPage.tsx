import { Box, Button, Card } from '@mantine/core';
import { IconPlus, type TablerIcon } from '@tabler/icons-react';
import { type ReactNode, useMemo } from 'react';
import { type Column, DataTable, type DataTableProps } from '@/shared/grid/DataTable';
import { useArrived } from '@/shared/live/useArrived';
import { useCommands } from '@/shared/ui/commands';
import { EmptyState } from '@/shared/ui/EmptyState';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { useShortcuts } from '@/shared/ui/shortcuts';
import type { PersonalKey } from './keyColumns';

interface KeysPageProps<Row extends PersonalKey> {
  words: { title: string; subtitle: ReactNode; create: string; empty: string };
  icon: TablerIcon;
  /** Names the command that opens the form. */
  command: string;
  keys: Pick<DataTableProps<Row>, 'rows' | 'error' | 'refetch' | 'hasMore' | 'isLoadingMore' | 'loadMore'>;
  columns: Column<Row>[];
  /** Those that are being revoked. */
  hidden: ReadonlySet<string>;
  onCreate: () => void;
  /** The purpose of the keys, below them. */
  children?: ReactNode;
}

/** The keys that a person has made, a way to make one, and to revoke each. */
export function KeysPage<Row extends PersonalKey>(props: KeysPageProps<Row>) {
  const { words, icon, command, keys, columns, hidden, onCreate, children } = props;
  const rows = useMemo(() => keys.rows?.filter(({ id }) => !hidden.has(id)), [keys.rows, hidden]);
  const hasKeys = useArrived(rows !== undefined || keys.error != null);
  useShortcuts([{ keys: 'N', label: words.create, run: onCreate }]);
  useCommands([{ id: command, label: words.create, icon: IconPlus, run: onCreate }]);
  const create = (
    <Button leftSection={<IconPlus size={15} />} onClick={onCreate} data-first-action>
      {words.create}
    </Button>
  );
  return (
    <Page>
      <PageHeader title={words.title} subtitle={words.subtitle}>
        {create}
      </PageHeader>
      <Card p={0}>
        <DataTable
          {...keys}
          rows={rows}
          label={words.title}
          columns={columns}
          rowKey={({ id }) => id}
          empty={<EmptyState icon={icon} title={words.empty} action={create} />}
        />
      </Card>
      {/* Below the keys, however many there are. */}
      {hasKeys && children && <Box mt="lg">{children}</Box>}
    </Page>
  );
}
