import { Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { NodeAgent } from '@/api/schema';
import { useFormat } from '@/shared/ui/format';

type Card = NodeAgent['gpus'][number];
const KINDS = ['nvlink', 'pcie', 'numa'] as const;

/** The cards of a node: memory, how busy each is, and how it reaches the others. */
export function Cards({ node, cards }: { node: string; cards: Card[] }) {
  const { t } = useTranslation();
  const format = useFormat();
  if (cards.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t('agents.noCards')}
      </Text>
    );
  return (
    <Table.ScrollContainer minWidth={520} type="native" tabIndex={0}>
      <Table aria-label={t('agents.cardsOf', { node })} fz="sm" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('agents.card')}</Table.Th>
            <Table.Th>{t('agents.model')}</Table.Th>
            <Table.Th>{t('agents.memory')}</Table.Th>
            <Table.Th>{t('agents.busy')}</Table.Th>
            {cards.length > 1 && <Table.Th>{t('agents.links')}</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {cards.map((card) => (
            <Table.Tr key={card.uuid}>
              <Table.Td className="tabular" title={card.uuid}>
                {card.index}
              </Table.Td>
              <Table.Td>{card.model}</Table.Td>
              <Table.Td className="tabular">
                {t('agents.memoryOf', {
                  used: format.bytes(card.memory_used_bytes),
                  total: format.bytes(card.memory_bytes),
                })}
              </Table.Td>
              <Table.Td className="tabular" miw={64}>
                {card.busy === null ? '–' : format.percent(card.busy)}
              </Table.Td>
              {cards.length > 1 && (
                <Table.Td>
                  <Links card={card} cards={cards} />
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** The cards that a card reaches, by the kind of the way. */
function Links({ card, cards }: { card: Card; cards: Card[] }) {
  const { t } = useTranslation();
  const indexOf = new Map(cards.map(({ uuid, index }) => [uuid, index]));
  const lines = KINDS.flatMap((kind) => {
    const reached = card.links.filter((link) => link.kind === kind).map(({ to }) => indexOf.get(to) ?? to);
    return reached.length > 0 ? [t(`agents.link.${kind}`, { cards: reached.join(', ') })] : [];
  });
  return lines.length > 0 ? lines.join(' · ') : '–';
}
