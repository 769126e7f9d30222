import { Alert, Button, Group, Table, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { PreviewTable } from '@/api/contract/shapes';
import classes from './TableView.module.css';

const FIRST_ROWS = 100;

/** Why only the columns of a table, or nothing of it, can be shown. */
export type TableReason = 'broken' | 'busy' | 'cut' | 'encrypted' | 'heavy' | 'not_parquet';
const REASONS: readonly string[] = ['broken', 'busy', 'cut', 'encrypted', 'heavy', 'not_parquet'];
export const isTableReason = (reason: string): reason is TableReason => REASONS.includes(reason);

interface TableViewProps {
  table: PreviewTable;
  /** Why its rows are not there; empty when they are. */
  reason?: string;
}

/** The first rows of a table; every cell is text, whatever it says. */
export function TableView({ table, reason = '' }: TableViewProps) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const rows = all ? table.rows : table.rows.slice(0, FIRST_ROWS);
  const isNumber = table.columns.map(({ type }) => type === 'integer' || type === 'number');
  const hidden = table.rows.length - rows.length;
  return (
    <>
      <TableFacts table={table} />
      {isTableReason(reason) && (
        <Alert color="orange" mb="xs" icon={<IconAlertTriangle size={18} />} title={t('table.onlyColumns')}>
          {t(`table.reasons.${reason}`)}
        </Alert>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard */}
      <section className={classes.table} tabIndex={0} aria-label={t('table.label')}>
        <Table stickyHeader striped withColumnBorders>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t('table.row')}</Table.Th>
              {table.columns.map(({ name, type, declared }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns may have one name, and never move
                <Table.Th key={index} scope="col" title={name}>
                  {name}
                  <span className={classes.type}>{declared || t(`table.types.${type}`)}</span>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row, number) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name but their number
              <Table.Tr key={number}>
                <Table.Th scope="row" className={classes.number}>
                  {number + 1}
                </Table.Th>
                {row.map((cell, index) => (
                  <Table.Td
                    // biome-ignore lint/suspicious/noArrayIndexKey: cells are where their columns are
                    key={index}
                    title={cell ?? undefined}
                    className={isNumber[index] ? classes.number : undefined}
                  >
                    {cell}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
      {hidden > 0 && (
        <Button variant="subtle" mt="xs" onClick={() => setAll(true)}>
          {t('table.more', { count: hidden })}
        </Button>
      )}
    </>
  );
}

/** Facts of the file as a whole, as the file has them. */
function TableFacts({ table }: { table: PreviewTable }) {
  const { t } = useTranslation();
  const { row_count: rows, row_groups: groups, column_count: columns, writer } = table;
  if (rows === null) return null;
  const facts = [
    t('table.rows', { count: rows }),
    t('table.columns', { count: columns }),
    groups !== null && t('table.groups', { count: groups }),
    writer,
  ];
  return (
    <Group gap="sm" mb="xs">
      {facts.filter(Boolean).map((fact) => (
        <Text key={String(fact)} size="sm" c="dimmed">
          {fact}
        </Text>
      ))}
    </Group>
  );
}
