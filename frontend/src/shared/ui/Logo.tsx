/** An "A" whose crossbar is the orbit of an electron. `public/favicon.svg` is the same drawing. */
export function Logo({ size = 24 }: { size?: number }) {
  const color = 'var(--mantine-primary-color-filled)';
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} fill="none" stroke={color} strokeLinecap="round" aria-hidden>
      <path d="M6.5 27.5 L16 4.5 L25.5 27.5" strokeWidth={3.4} strokeLinejoin="round" />
      <ellipse cx={16} cy={19} rx={14} ry={4.6} strokeWidth={2} transform="rotate(-20 16 19)" />
      <circle cx={28.6} cy={13.4} r={2.6} fill={color} stroke="none" />
    </svg>
  );
}
