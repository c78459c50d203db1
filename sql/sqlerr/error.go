package sqlerr

import (
	"errors"
	"fmt"
)

// Code is a five-character SQLSTATE.
type Code string

// Name returns the condition name of c as PL/pgSQL spells it ("unique_violation"), or "" when c has none.
func (c Code) Name() string { return conditionNames[c] }

// Class returns the first two characters of c.
func (c Code) Class() string {
	if len(c) < 2 {
		return ""
	}
	return string(c[:2])
}

// Severity is the level of an error or notice; its String is what the protocol sends.
type Severity uint8

// The severities of PostgreSQL, errors first: the zero value is Error.
const (
	SeverityError Severity = iota
	SeverityFatal
	SeverityPanic
	SeverityWarning
	SeverityNotice
	SeverityDebug
	SeverityInfo
	SeverityLog
)

var severityNames = [...]string{"ERROR", "FATAL", "PANIC", "WARNING", "NOTICE", "DEBUG", "INFO", "LOG"}

// String returns the protocol's word for s.
func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return "ERROR"
}

// Error is an SQL error, warning or notice with the fields of the protocol's ErrorResponse and NoticeResponse.
// An empty string or zero means that the field is not sent.
type Error struct {
	Severity Severity
	Code     Code
	Message  string
	Detail   string
	Hint     string

	// Position is a 1-based offset in characters (not bytes) into the text of the client's Query or Parse message.
	Position int
	// InternalPosition is the same for InternalQuery, a text that the server made (a view, a function body).
	InternalPosition int
	InternalQuery    string
	// Where is the context: one line a level, innermost first.
	Where string

	Schema     string
	Table      string
	Column     string
	DataType   string
	Constraint string

	// Routine is a function of PostgreSQL's by whose name drivers know the error; "" is the condition's name.
	Routine string
}

// Error returns severity, message and code in one line, for logs; clients get the fields.
func (e *Error) Error() string {
	return e.Severity.String() + ": " + e.Message + " (SQLSTATE " + string(e.Code) + ")"
}

// New makes an error with the formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: text(format, args)}
}

// At is New with a position; see Error.Position.
func At(position int, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: text(format, args), Position: position}
}

// Fatal makes an error that ends the session.
func Fatal(code Code, format string, args ...any) *Error {
	return &Error{Severity: SeverityFatal, Code: code, Message: text(format, args)}
}

// Warn makes a warning.
func Warn(code Code, format string, args ...any) *Error {
	return &Error{Severity: SeverityWarning, Code: code, Message: text(format, args)}
}

// Notice makes a notice; PostgreSQL sends most of them with SuccessfulCompletion, a skipped object with its own code.
func Notice(code Code, format string, args ...any) *Error {
	return &Error{Severity: SeverityNotice, Code: code, Message: text(format, args)}
}

// Unsupported makes the 0A000 error for a feature that herd does not have; what names it.
func Unsupported(what string, args ...any) *Error {
	return &Error{Code: FeatureNotSupported, Message: text(what, args) + " is not supported"}
}

// Internal makes an XX000 error: an invariant does not hold.
func Internal(format string, args ...any) *Error {
	return &Error{Code: InternalError, Message: text(format, args)}
}

func text(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// WithDetail sets the detail and returns e.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = text(format, args)
	return e
}

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = text(format, args)
	return e
}

// WithPosition sets the position (1-based, in characters; 0 for none) and returns e.
func (e *Error) WithPosition(position int) *Error {
	e.Position = position
	return e
}

// WithInternal sets the server-made text that failed and the position in it, and returns e.
func (e *Error) WithInternal(query string, position int) *Error {
	e.InternalQuery, e.InternalPosition = query, position
	return e
}

// WithWhere appends a line of context and returns e; the innermost context is added first.
func (e *Error) WithWhere(format string, args ...any) *Error {
	if e.Where != "" {
		e.Where += "\n"
	}
	e.Where += text(format, args)
	return e
}

// WithTable sets schema and table and returns e.
func (e *Error) WithTable(schema, table string) *Error {
	e.Schema, e.Table = schema, table
	return e
}

// WithColumn sets the column and returns e.
func (e *Error) WithColumn(column string) *Error {
	e.Column = column
	return e
}

// WithType sets schema and data type and returns e.
func (e *Error) WithType(schema, dataType string) *Error {
	e.Schema, e.DataType = schema, dataType
	return e
}

// WithConstraint sets the constraint and returns e.
func (e *Error) WithConstraint(name string) *Error {
	e.Constraint = name
	return e
}

// From returns a copy of the *Error in err's chain for a caller that adds fields to it. An err without one comes from
// a place that should have translated it, and becomes XX000 with err's text.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		c := *e
		return &c
	}
	return &Error{Code: InternalError, Message: err.Error()}
}

// CodeOf returns the SQLSTATE of the *Error in err's chain, InternalError for any other err, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return InternalError
}

// Retryable says whether the client may expect success from running the transaction again unchanged.
func (e *Error) Retryable() bool {
	return e.Code == SerializationFailure || e.Code == DeadlockDetected || e.Code == LockNotAvailable
}
