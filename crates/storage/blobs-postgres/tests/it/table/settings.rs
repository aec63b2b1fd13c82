//! Connection strings with a table.

use groundstate_blobs_postgres::TableSettings;
use groundstate_blobs_postgres::blobs::ErrorKind;

#[test]
fn tables_and_schemas_are_named_in_either_form() {
    for (text, shown) in [
        ("postgres://u@h:1/d", "postgres://u@h:1/d?table=groundstate_blobs"),
        ("postgresql://u@h/d?schema=s&table=t", "postgres://u@h/d?schema=s&table=t"),
        ("host=h dbname=d user=u table=t password=s3cret", "postgres://u@h/d?table=t"),
    ] {
        let settings = TableSettings::parse(text, &|_| None).unwrap();
        assert_eq!(
            (settings.to_string(), format!("{settings:?}")),
            (shown.to_owned(), format!("TableSettings({shown})"))
        );
    }
}

#[test]
fn names_that_would_need_quotes_are_refused() {
    for (text, reason) in [
        ("postgres://h/d?table=T", "cannot use the table \"T\": it is not a name"),
        ("postgres://h/d?table=a'b", "cannot use the table"),
        ("postgres://h/d?schema=a%22b", "cannot use the schema"),
        ("postgres://h/d?connections=0", "set connections to a number from 1 to 1000"),
        ("postgres://h/d?sslmode=maybe", "cannot use sslmode=maybe"),
    ] {
        let error = TableSettings::parse(text, &|_| None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    let long = format!("postgres://h/d?table={}", "a".repeat(56));
    assert!(TableSettings::parse(&long, &|_| None).is_err());
}
