import { ActionIcon, Button, Group, Text, TextInput, Tooltip } from '@mantine/core';
import {
  IconAlertTriangle,
  IconChevronDown,
  IconChevronUp,
  IconLetterCase,
  IconRegex,
  IconSearch,
} from '@tabler/icons-react';
import type { RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/shared/ui/format';
import type { Find } from './useLogSearch';

export interface LogFinderProps {
  field: RefObject<HTMLInputElement | null>;
  query: string;
  find: Find;
  matchCase: boolean;
  /** Null before there is anything to look for. */
  count: number | null;
  current: number;
  searching: boolean;
  error: string | undefined;
  onQuery: (query: string) => void;
  onFind: (find: Find) => void;
  onCase: (matchCase: boolean) => void;
  onStep: (by: 1 | -1) => void;
}

/** The text to find in the log, the way to match it, and steps from match to match. */
export function LogFinder(props: LogFinderProps) {
  const { field, query, find, matchCase, count, error, onQuery, onFind, onCase, onStep } = props;
  const { t } = useTranslation();
  const errors = find === 'errors';
  return (
    <>
      <TextInput
        ref={field}
        size="xs"
        flex={1}
        miw={200}
        maw={420}
        aria-label={t('runlog.find')}
        placeholder={errors ? t('runlog.findErrors') : t('runlog.find')}
        leftSection={<IconSearch size={14} />}
        value={query}
        error={error}
        onChange={(event) => onQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onStep(event.shiftKey ? -1 : 1);
          if (event.key === 'Escape') {
            onQuery('');
            if (errors) onFind('text');
          }
        }}
        rightSectionWidth={112}
        rightSection={count === null ? undefined : <Standing {...props} count={count} />}
      />
      <Group gap={4} wrap="nowrap">
        <Toggle label={t('runlog.case')} on={matchCase} disabled={errors} onClick={() => onCase(!matchCase)}>
          <IconLetterCase size={15} />
        </Toggle>
        <Toggle
          label={t('runlog.regex')}
          on={find === 'regex'}
          onClick={() => onFind(find === 'regex' ? 'text' : 'regex')}
        >
          <IconRegex size={15} />
        </Toggle>
        <ActionIcon variant="default" disabled={!count} aria-label={t('runlog.previous')} onClick={() => onStep(-1)}>
          <IconChevronUp size={15} />
        </ActionIcon>
        <ActionIcon variant="default" disabled={!count} aria-label={t('runlog.next')} onClick={() => onStep(1)}>
          <IconChevronDown size={15} />
        </ActionIcon>
      </Group>
      <Tooltip label={t('runlog.errorsHow')} multiline maw={320}>
        <Button
          size="xs"
          variant={errors ? 'light' : 'default'}
          leftSection={<IconAlertTriangle size={14} />}
          aria-pressed={errors}
          onClick={() => onFind(errors ? 'text' : 'errors')}
        >
          {t('runlog.errors')}
        </Button>
      </Tooltip>
    </>
  );
}

function Standing({ count, current, searching }: LogFinderProps & { count: number }) {
  const { t } = useTranslation();
  const format = useFormat();
  const text = count
    ? t('runlog.match', { at: format.number(current + 1), count, total: format.number(count) })
    : searching
      ? t('runlog.searching')
      : t('runlog.noMatch');
  return (
    <Text size="xs" c="dimmed" className="tabular" role="status">
      {text}
    </Text>
  );
}

interface ToggleProps {
  label: string;
  on: boolean;
  disabled?: boolean;
  onClick: () => void;
  children: React.ReactNode;
}

function Toggle({ label, on, disabled = false, onClick, children }: ToggleProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant={on ? 'light' : 'default'}
        aria-label={label}
        aria-pressed={on}
        disabled={disabled}
        onClick={onClick}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
