/** A metric in a PromQL expression, with the labels that the expression uses. */
export interface UsedMetric {
  readonly name: string;
  readonly labels: readonly string[];
}

const METRIC = /\b((?:weir|process|nodejs)_\w+)(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(?:=~|!~|!=|=)/g;
/** An aggregation, up to the parenthesis that opens its operand. */
const AGGREGATION = /\bby \(([^)]*)\) \(/g;

/** Every metric of Weir in a PromQL expression, with the labels in its matchers and aggregations. */
export function usedMetrics(expr: string): readonly UsedMetric[] {
  const aggregations = [...expr.matchAll(AGGREGATION)].map(({ 0: head, 1: labels, index }) => {
    const begin = index + head.length;
    return { labels: labels.split(/,\s*/), begin, end: closingParenthesis(expr, begin) };
  });
  return [...expr.matchAll(METRIC)].map(({ 1: name, 2: matchers = '', index }) => {
    const around = aggregations.filter(({ begin, end }) => begin <= index && index < end);
    const matched = [...matchers.matchAll(MATCHER)].map(([, label]) => label);
    return { name, labels: [...around.flatMap(({ labels }) => labels), ...matched] };
  });
}

function closingParenthesis(text: string, from: number): number {
  let depth = 1;
  let at = from;
  for (; at < text.length && depth > 0; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')') depth--;
  }
  return at;
}
