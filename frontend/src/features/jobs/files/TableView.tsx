import { Button, Table } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { PreviewTable } from '@/api/contract/jobs';
import classes from './files.module.css';

const FIRST_ROWS = 100;

/** The first rows of a table; every cell is text, whatever it says. */
export function TableView({ table }: { table: PreviewTable }) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const rows = all ? table.rows : table.rows.slice(0, FIRST_ROWS);
  const isNumber = table.columns.map(({ type }) => type === 'integer' || type === 'number');
  const hidden = table.rows.length - rows.length;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard */}
      <section className={classes.table} tabIndex={0} aria-label={t('runpage.preview.table')}>
        <Table stickyHeader striped withColumnBorders>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t('runpage.preview.row')}</Table.Th>
              {table.columns.map(({ name, type }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns may have one name, and never move
                <Table.Th key={index} scope="col" title={name}>
                  {name}
                  <span className={classes.type}>{t(`runpage.preview.types.${type}`)}</span>
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
          {t('runpage.preview.more', { count: hidden })}
        </Button>
      )}
    </>
  );
}
