import { MultiSelect, NumberInput, Select, Stack, Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { LateText } from './LateText';
import { askedOf } from './ontology';
import type { Attribute, Attributes, AttributeValue } from './types';

interface AttributeFieldsProps {
  attributes: readonly Attribute[];
  values: Attributes;
  /** Required attributes without a value say so. */
  showMissing: boolean;
  disabled: boolean;
  onChange: (attribute: number, value: AttributeValue | undefined) => void;
}

/** The attributes that are asked for, each as a field. */
export function AttributeFields({ attributes, values, showMissing, disabled, onChange }: AttributeFieldsProps) {
  return (
    <Stack gap={6}>
      {askedOf(attributes, values).map((attribute) => (
        <AttributeField
          key={attribute.id}
          attribute={attribute}
          value={values[String(attribute.id)]}
          showMissing={showMissing}
          disabled={disabled}
          onChange={(value) => onChange(attribute.id, value)}
        />
      ))}
    </Stack>
  );
}

interface AttributeFieldProps {
  attribute: Attribute;
  value: AttributeValue | undefined;
  showMissing: boolean;
  disabled: boolean;
  onChange: (value: AttributeValue | undefined) => void;
}

function AttributeField({ attribute, value, showMissing, disabled, onChange }: AttributeFieldProps) {
  const { t } = useTranslation();
  const isMissing = value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  const common = {
    size: 'xs',
    label: attribute.name,
    withAsterisk: attribute.required,
    disabled,
    error: showMissing && attribute.required && isMissing ? t('labeling.objects.required') : undefined,
  } as const;
  const choices = (attribute.choices ?? []).map(({ id, name }) => ({ value: String(id), label: name }));
  if (attribute.kind === 'flag')
    return (
      <Switch
        size="xs"
        label={attribute.name}
        disabled={disabled}
        checked={value === true}
        error={common.error}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    );
  if (attribute.kind === 'choice' && attribute.multiple)
    return (
      <MultiSelect
        {...common}
        searchable={choices.length > 8}
        data={choices}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={(ids) => onChange(ids.length > 0 ? ids.map(Number) : undefined)}
      />
    );
  if (attribute.kind === 'choice')
    return (
      <Select
        {...common}
        clearable
        searchable={choices.length > 8}
        data={choices}
        value={typeof value === 'number' ? String(value) : null}
        onChange={(id) => onChange(id === null ? undefined : Number(id))}
      />
    );
  if (attribute.kind === 'number')
    return (
      <NumberInput
        {...common}
        min={attribute.min ?? undefined}
        max={attribute.max ?? undefined}
        step={attribute.step ?? undefined}
        value={typeof value === 'number' ? value : ''}
        onChange={(next) => onChange(typeof next === 'number' ? next : undefined)}
      />
    );
  return <TextAttribute {...common} attribute={attribute} value={value} onChange={onChange} />;
}

interface TextAttributeProps {
  attribute: Attribute;
  value: AttributeValue | undefined;
  error?: string;
  size: 'xs';
  label: string;
  withAsterisk?: boolean;
  disabled: boolean;
  onChange: (value: AttributeValue | undefined) => void;
}

/** The pattern of an attribute means the whole text; one that no browser reads is left to the server. */
function matches(text: string, pattern: string | null | undefined): boolean {
  if (!pattern || text === '') return true;
  try {
    return new RegExp(`^(?:${pattern})$`, 'u').test(text);
  } catch {
    return true;
  }
}

function TextAttribute({ attribute, value, error, onChange, ...field }: TextAttributeProps) {
  const { t } = useTranslation();
  const text = typeof value === 'string' ? value : '';
  const isWrong = !matches(text, attribute.pattern);
  return (
    <LateText
      {...field}
      maxLength={attribute.max_length ?? undefined}
      error={isWrong ? t('labeling.objects.pattern', { pattern: attribute.pattern ?? '' }) : error}
      value={text}
      onCommit={(next) => onChange(next === '' ? undefined : next)}
    />
  );
}
