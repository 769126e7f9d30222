import { MultiSelect, NumberInput, Select, Stack, Switch } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { LateText } from './LateText';
import { askedOf } from './ontology';
import type { Attribute, Attributes, AttributeValue } from './types';

/** Decimal fractions are not exact: 0.3 is not three times 0.1. */
const STEP_ERROR = 1e-6;

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
    return <NumberAttribute {...common} attribute={attribute} value={value} onChange={onChange} />;
  return <TextAttribute {...common} attribute={attribute} value={value} onChange={onChange} />;
}

/** Within the bounds and, counted from the least value, on a step. */
function isAllowed(value: number, { min, max, step }: Attribute): boolean {
  if ((min != null && value < min) || (max != null && value > max)) return false;
  if (step == null || step <= 0) return true;
  const steps = (value - (min ?? 0)) / step;
  return Math.abs(steps - Math.round(steps)) < STEP_ERROR;
}

function rangeOf({ min, max, step }: Attribute, t: TFunction): string {
  const bounds = min == null ? (max == null ? null : 'most') : max == null ? 'least' : 'between';
  const parts = [
    bounds && t(`labeling.objects.range.${bounds}`, { min: min ?? '', max: max ?? '' }),
    step != null && t('labeling.objects.range.step', { step }),
  ];
  return t('labeling.objects.range.allowed', { range: parts.filter(Boolean).join(t('labeling.objects.range.and')) });
}

interface TypedAttributeProps {
  attribute: Attribute;
  value: AttributeValue | undefined;
  error?: string;
  size: 'xs';
  label: string;
  withAsterisk?: boolean;
  disabled: boolean;
  onChange: (value: AttributeValue | undefined) => void;
}

const numberOf = (text: number | string): number | undefined => {
  const number = text === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : undefined;
};

/** A number stays as it was typed, and is marked where it is not allowed. */
function NumberAttribute({ attribute, value, error, onChange, ...field }: TypedAttributeProps) {
  const { t } = useTranslation();
  const { min, max, step } = attribute;
  const number = typeof value === 'number' ? value : undefined;
  const [typed, setTyped] = useState<number | string>(number ?? '');
  // `2.` is on its way to `2.3`; another number comes from undo, or from another object.
  const shown = numberOf(typed) === number ? typed : (number ?? '');
  const isWrong = number !== undefined && !isAllowed(number, attribute);
  return (
    <NumberInput
      {...field}
      clampBehavior="none"
      min={min ?? undefined}
      max={max ?? undefined}
      step={step ?? undefined}
      error={isWrong ? rangeOf(attribute, t) : error}
      value={shown}
      onChange={(next) => {
        setTyped(next);
        if (numberOf(next) !== number) onChange(numberOf(next));
      }}
    />
  );
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

function TextAttribute({ attribute, value, error, onChange, ...field }: TypedAttributeProps) {
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
